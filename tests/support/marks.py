"""Marks in C source, and what mutants change there.

A mark is a comment, /*~name*/. It stands before the token, expression or statement that a mutant
changes, and binds to the token that follows it, whatever line that is on. So neither a new name for
a variable, function, type or file nor another layout breaks it. What changes is said by one of the
functions below, in terms of C's grammar:

    token("<")        the token after the mark becomes another
    drop()            the binary operator after the mark goes with its right operand; or the
                      statement after it goes
    through("&&")     everything goes up to the next && of the same bracket, and that
    swap()            the two branches after a mark before ? change places
    term("$1")        the operand with its prefix and postfix operators, a call or a bracket becomes
                      something else
    member("byte")    the name after the last -> of the operand (or ., if it has none) does
    operand("0")      what stands before the next &&, ||, ? or : of the same bracket does
    expr("false")     all of the expression from the mark on does, up to the bracket, comma or
                      semicolon that ends it
    stmt("if (a) $0") the statement does

In a text $0 is what stood there, and $1, $2 … are its parts: the operands of the operator that
binds least (of ?: three), of a call or an index what is in its last bracket, of the bracket of a
for its three parts; $1.2 is the second part of $1. A text that names little needs few changes:
names are those of the source, and whoever renames there does so in the text, too. If that was
forgotten, the compiler says which mutant it is.
"""
import re
from collections import namedtuple

MARK = re.compile(r"/\*~([a-z0-9_]+)\*/")
_TOKEN = re.compile(
    r"(?P<skip>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:\\\n|[^\n])*)"
    r"|(?P<token>[A-Za-z_]\w*|\.?\d(?:[eEpP][-+]|[\w.])*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
    r"|->|\+\+|--|<<=|>>=|<<|>>|[-+*/%&|^=!<>]=|&&|\|\||\.\.\.|\S)", re.S | re.M)
_PREFIX = {"!", "~", "-", "+", "*", "&", "++", "--", "sizeof"}
_LEVELS = [["="], ["?"], ["||"], ["&&"], ["|"], ["^"], ["&"], ["==", "!="], ["<", "<=", ">", ">="],
           ["<<", ">>"], ["+", "-"], ["*", "/", "%"]]
_LEVEL = {operator: level for level, operators in enumerate(_LEVELS) for operator in operators}
_LEVEL.update((sign + "=", 0) for sign in ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"])
_CLOSE = {"(": ")", "[": "]", "{": "}"}
_TYPE = re.compile(r"(const|struct|unsigned|int|char|bool|double|float|long|void|\w+_t|sv_\w+|\*)$")
_KEYWORDS = {"return", "case", "else", "do", "sizeof"}

Token = namedtuple("Token", "text start end")


def find_marks(text):
    return MARK.findall(text)


class MarkError(Exception):
    """A change that cannot be made where its mark stands."""


class Source:
    """A file of C: its tokens, and its marks, {name: [number of the token behind it]}."""

    def __init__(self, path, text):
        self.path, self.text, self.tokens, self.marks = path, text, [], {}
        for match in _TOKEN.finditer(text):
            if match.group("token"):
                self.tokens.append(Token(match.group(), match.start(), match.end()))
            else:
                mark = MARK.fullmatch(match.group())
                if mark:
                    self.marks.setdefault(mark.group(1), []).append(len(self.tokens))
        self.match = self._brackets()

    def _brackets(self):
        """{number of a bracket: number of the one that ends or begins it}."""
        match, stack = {}, []
        for i, token in enumerate(self.tokens):
            if token.text in _CLOSE:
                stack.append(i)
            elif token.text in (")", "]", "}") and stack:
                match[i] = stack.pop()
                match[match[i]] = i
        return match

    def __getitem__(self, i):
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def slice(self, first, end):
        return self.text[self.tokens[first].start:self.tokens[end - 1].end] if end > first else ""

    def body(self, i):
        """The numbers of the braces of the function that token i is in; None outside of them."""
        around = [(first, last) for first, last in self.match.items()
                  if first < i < last and self[first] == "{"]
        first, last = min(around, default=(None, None))
        return (first, last) if first is not None and self[first - 1] == ")" else None

    # ---- what the grammar says; each returns the number of the token behind it ----

    def is_cast(self, i):
        """Whether token i is the ( of a cast or a compound literal."""
        if self[i] != "(" or i not in self.match:
            return False
        inside = [self[k] for k in range(i + 1, self.match[i])]
        return bool(inside) and (inside[0] == "struct" or all(map(_TYPE.match, inside)))

    def is_binary(self, i):
        if self[i] not in _LEVEL:
            return False
        before = self[i - 1]
        if before in (")", "]"):
            return not (before == ")" and self.is_cast(self.match[i - 1]) and
                        not re.match(r"\w", self[self.match[i - 1] - 1]))
        if re.match(r"[\w\"'.]", before):
            return before not in _KEYWORDS
        return before in ("++", "--")

    def term(self, i):
        while self[i] in _PREFIX or self.is_cast(i):
            i = self.match[i] + 1 if self[i] == "(" else i + 1
            if self[i] == "{":  # a compound literal
                break
        i = self.match[i] + 1 if self[i] in _CLOSE else i + 1
        while self[i] in ("(", "[", ".", "->", "++", "--"):
            i = self.match[i] + 1 if self[i] in _CLOSE else i + (2 if self[i] in (".", "->") else 1)
        return i

    def right(self, i):
        """The end of the right operand of the binary operator i."""
        level, i = _LEVEL[self[i]], self.term(i + 1)
        while self.is_binary(i) and _LEVEL[self[i]] > level:
            i = self.term(i + 1)
        return i

    def expr(self, i, stops=()):
        questions = 0
        while i < len(self.tokens):
            text = self[i]
            if text in (",", ";", ")", "]", "}", *stops) or (text == ":" and questions == 0):
                return i
            questions += (text == "?") - (text == ":")
            i = self.match[i] + 1 if text in _CLOSE else i + 1
        raise MarkError("no end of the expression")

    def statement(self, i):
        if self[i] == "{":
            return self.match[i] + 1
        if self[i] in ("if", "for", "while", "switch") or self[i].startswith("SV_FOR"):
            chooses, i = self[i] == "if", self.statement(self.match[i + 1] + 1)
            return self.statement(i + 1) if chooses and self[i] == "else" else i
        while self[i] != ";":
            if self[i] in ("", ")", "]", "}"):
                raise MarkError("no statement")
            i = self.match[i] + 1 if self[i] in _CLOSE else i + 1
        return i + 1

    def begins_statement(self, i):
        before = self[i - 1]
        if before == ")":
            return self[self.match[i - 1] - 1] in ("if", "for", "while", "switch") or (
                self[self.match[i - 1] - 1].startswith("SV_FOR"))
        return before in ("{", "}", ";", "else", "do", ":")

    def parts(self, first, end):
        """What $1, $2 … are: pairs of numbers."""
        if self[end - 1] == ";":
            end -= 1
        if self[first] == "(" and self.match[first] == end - 1:  # a bracket; of a loop: three
            return (self._split(first + 1, end - 1, {";"}) if self[first - 1] == "for"
                    else self.parts(first + 1, end - 1))
        inner = [i for i in self._outer(first, end) if self.is_binary(i) or self[i] == "?"]
        if inner:
            level = min(_LEVEL[self[i]] for i in inner)
            return self._split(first, end, {"?", ":"} if level == _LEVEL["?"] else
                               {operator for operator in _LEVEL if _LEVEL[operator] == level})
        brackets = [i for i in self._outer(first, end)
                    if self[i] in ("(", "[") and not self.is_cast(i)]
        if not brackets:
            return []
        return self._split(brackets[-1] + 1, self.match[brackets[-1]], {","})

    def _outer(self, first, end):
        """The tokens of a stretch that are in no bracket of it."""
        i = first
        while i < end:
            yield i
            i = self.match[i] + 1 if self[i] in _CLOSE else i + 1

    def _split(self, first, end, separators):
        parts, begin = [], first
        for i in self._outer(first, end):
            if self[i] in separators and (self[i] in ",;?:" or self.is_binary(i)):
                parts.append((begin, i))
                begin = i + 1
        return [*parts, (begin, end)]


class Change:
    """What a mutant does at its mark."""

    def __init__(self, verb, text=None):
        self.verb, self.text = verb, text

    def __repr__(self):
        return "%s(%s)" % (self.verb, "" if self.text is None else '"%s"' % self.text)

    def edit(self, source, i):
        """The piece of text that is replaced if its mark is before token i: (start, end, new)."""
        try:
            first, end, text = getattr(self, "_" + self.verb)(source, i)
            return source.tokens[first].start, source.tokens[end - 1].end, text
        except (MarkError, KeyError, IndexError) as error:
            raise MarkError("%s: %s does not fit behind the mark: %s" % (
                source.path, self, error)) from None

    def _token(self, source, i):
        return i, i + 1, self.text

    def _drop(self, source, i):
        if source.begins_statement(i):
            return i, source.statement(i), ";"
        if not source.is_binary(i):
            raise MarkError("neither a statement nor a binary operator: '%s'" % source[i])
        return i, source.right(i), ""

    def _through(self, source, i):
        end = source.expr(i, {self.text})
        if source[end] != self.text:
            raise MarkError("no '%s' behind the mark" % self.text)
        return i, end + 1, ""

    def _swap(self, source, i):
        if source[i] != "?":
            raise MarkError("not a '?'")
        middle = source.expr(i + 1)
        end = source.expr(middle + 1)
        return i, end, "? %s : %s" % (source.slice(middle + 1, end), source.slice(i + 1, middle))

    def _term(self, source, i):
        return self._fill(source, i, source.term(i))

    def _member(self, source, i):
        names = [k for k in source._outer(i, source.term(i)) if source[k - 1] in ("->", ".")]
        names = [k for k in names if source[k - 1] == "->"] or names
        if not names:
            raise MarkError("no member behind the mark")
        return names[-1], names[-1] + 1, self.text

    def _operand(self, source, i):
        return self._fill(source, i, source.expr(i, {"&&", "||", "?"}))

    def _expr(self, source, i):
        return self._fill(source, i, source.expr(i))

    def _stmt(self, source, i):
        if not source.begins_statement(i):
            raise MarkError("not the beginning of a statement")
        return self._fill(source, i, source.statement(i))

    def _fill(self, source, first, end):
        def piece(match):
            begin, behind = first, end
            for number in filter(int, map(int, match.group(1).split("."))):
                parts = source.parts(begin, behind)
                if number > len(parts):
                    raise MarkError("no part $%s in '%s'" % (match.group(1),
                                                             source.slice(first, end)))
                begin, behind = parts[number - 1]
            return source.slice(begin, behind)

        return first, end, re.sub(r"\$(\d(?:\.\d)*)", piece, self.text)


def token(text):
    return Change("token", text)


def drop():
    return Change("drop")


def through(operator):
    return Change("through", operator)


def swap():
    return Change("swap")


def term(text):
    return Change("term", text)


def member(name):
    return Change("member", name)


def operand(text):
    return Change("operand", text)


def expr(text):
    return Change("expr", text)


def stmt(text):
    return Change("stmt", text)
