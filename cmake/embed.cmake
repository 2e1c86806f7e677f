# cmake -DPAGE=FILE -DOUTPUT=FILE -P embed.cmake: writes the page of reports as a C file, in three
# pieces: up to @TITLE@, up to @DATA@, and the rest. The page is read as hexadecimal digits, because
# lists of CMake would take its semicolons and brackets for theirs. A second for a megabyte.
file(READ ${PAGE} bytes HEX)
string(REGEX REPLACE "(................................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")

# Takes what is before a mark off the bytes. The mark must be there once.
function(take mark piece)
  string(HEX "${mark}" pattern)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1,\n?" pattern "${pattern}")
  string(REGEX MATCHALL "${pattern}" found "${bytes}")
  list(LENGTH found count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "${PAGE}: ${mark} must be there once, and is there ${count} times")
  endif()
  string(FIND "${bytes}" "${found}" begin)
  string(LENGTH "${found}" length)
  string(SUBSTRING "${bytes}" 0 ${begin} before)
  math(EXPR begin "${begin} + ${length}")
  string(SUBSTRING "${bytes}" ${begin} -1 after)
  set(${piece} "${before}" PARENT_SCOPE)
  set(bytes "${after}" PARENT_SCOPE)
endfunction()

take(@TITLE@ head)
take(@DATA@ middle)
file(WRITE ${OUTPUT} "/* Made by cmake/embed.cmake. */
#include \"report/template.h\"

static const unsigned char head[] = {
${head}};
static const unsigned char middle[] = {
${middle}};
static const unsigned char tail[] = {
${bytes}};

const sv__page_template sv__template = {
    (const char *)head, (const char *)middle, (const char *)tail,
    sizeof head, sizeof middle, sizeof tail,
};
")
