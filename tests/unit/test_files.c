/*
 * test_files.c: files of a program that may do more than those who can change its files: a plugin
 * that runs as root. Links that others can make lead it nowhere, pipes keep it waiting for nothing,
 * what it writes is not for everybody, and what it reads is in no message.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fileset.h"
#include "support/testing.h"

static sv_ctx *ctx, *root; /* an ordinary one, and a privileged one */
static char directory[] = "/tmp/selvage-files-XXXXXX";
static char warned[4096];

static void take_log(void *user, sv_log_level level, const char *message)
{
    (void)user;
    (void)level;
    strncat(warned, message, sizeof warned - strlen(warned) - 1);
}

static char *in(const char *name)
{
    static char paths[8][256];
    static int next;
    next = (next + 1) % 8;
    snprintf(paths[next], sizeof paths[next], "%s/%s", directory, name);
    return paths[next];
}

static int begin(void **state)
{
    (void)state;
    const sv_host host = {.privileged = true, .log = take_log};
    ctx = sv_ctx_new(NULL);
    root = sv_ctx_new(&host);
    umask(022);
    if (ctx == NULL || root == NULL || mkdtemp(directory) == NULL)
        return 1;
    /* One that everybody can write, and one that only we can. */
    return mkdir(in("shared"), 0777) != 0 || chmod(in("shared"), 0777) != 0 ||
           mkdir(in("own"), 0755) != 0;
}

static int end(void **state)
{
    (void)state;
    char command[300];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    sv_ctx_free(ctx);
    sv_ctx_free(root);
    return system(command);
}

static void put_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static const char *text_of(const char *path)
{
    static char text[4096];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return text;
}

static sv_status write_to(sv_ctx *who, const char *path, bool public)
{
    sv_file file;
    sv_status status =
        public ? sv_file_create_public(&file, who, path) : sv_file_create(&file, who, path);
    if (status == SV_OK) {
        assert_true(file.sink.write(file.sink.user, "new", 3));
        status = sv_file_commit(&file);
    }
    return status;
}

static sv_status read_from(sv_ctx *who, const char *path)
{
    sv_file file;
    char text[16];
    sv_status status = sv_file_open(&file, who, path);
    if (status == SV_OK) {
        assert_true(file.source.read(file.source.user, text, sizeof text) >= 0);
        sv_file_close(&file);
    }
    return status;
}

static void links_that_others_can_make(void **state)
{
    (void)state;
    put_text(in("own/victim"), "old");
    assert_int_equal(symlink(in("own/victim"), in("shared/link")), 0);
    assert_int_equal(symlink(in("own"), in("shared/folder")), 0);
    FAILS(root, write_to(root, in("shared/link"), false), SV_IO, "others can write");
    FAILS(root, write_to(root, in("shared/folder/victim"), true), SV_IO, "others can write");
    FAILS(root, read_from(root, in("shared/link")), SV_IO, "others can write");
    assert_string_equal(text_of(in("own/victim")), "old");
    struct stat about;
    assert_int_equal(lstat(in("shared/link"), &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    /* A link whose file is not there yet. */
    assert_int_equal(symlink(in("own/made"), in("shared/dangling")), 0);
    FAILS(root, write_to(root, in("shared/dangling"), false), SV_IO, "others can write");
    assert_int_equal(access(in("own/made"), F_OK), -1);
    /* Where only we can make links, they are ours. */
    assert_int_equal(symlink("victim", in("own/link")), 0);
    OK(root, write_to(root, in("own/link"), false));
    assert_string_equal(text_of(in("own/victim")), "new");
    assert_int_equal(lstat(in("own/link"), &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    /* Whoever has no privileges follows links as all programs do. */
    put_text(in("own/victim"), "old");
    OK(ctx, write_to(ctx, in("shared/link"), false));
    assert_string_equal(text_of(in("own/victim")), "new");
    OK(root, write_to(root, in("shared/plain"), false));
    assert_string_equal(text_of(in("shared/plain")), "new");
}

/* Not only what everybody can write is others': what a group can, and what is somebody else's. */
static void directories_of_others(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip(); /* nobody else gives directories away */
    put_text(in("own/victim"), "old");
    const struct {
        const char *name;
        mode_t mode;
        uid_t owner;
        bool others;
    } kinds[] = {{"group", 0775, 0, true},
                 {"foreign", 0755, 65534, true},
                 {"sticky", 01777, 0, true},
                 {"mine", 0755, 0, false}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        char link[60];
        snprintf(link, sizeof link, "%s/link", kinds[i].name);
        assert_int_equal(mkdir(in(kinds[i].name), 0755), 0);
        assert_int_equal(symlink(in("own/victim"), in(link)), 0);
        assert_int_equal(chown(in(kinds[i].name), kinds[i].owner, (gid_t)-1), 0);
        assert_int_equal(chmod(in(kinds[i].name), kinds[i].mode), 0);
        if (kinds[i].others)
            FAILS(root, write_to(root, in(link), false), SV_IO, "others can write");
        else
            OK(root, write_to(root, in(link), false));
        assert_string_equal(text_of(in("own/victim")), kinds[i].others ? "old" : "new");
    }
    /* In a directory such as /tmp nobody follows what others have made, whoever it is. */
    put_text(in("own/victim"), "old");
    assert_int_equal(lchown(in("sticky/link"), 65534, (gid_t)-1), 0);
    FAILS(ctx, write_to(ctx, in("sticky/link"), false), SV_IO, "of another user");
    assert_string_equal(text_of(in("own/victim")), "old");
    assert_int_equal(lchown(in("sticky/link"), 0, (gid_t)-1), 0);
    OK(ctx, write_to(ctx, in("sticky/link"), false));
    assert_string_equal(text_of(in("own/victim")), "new");
}

static void links_that_lead_nowhere(void **state)
{
    (void)state;
    assert_int_equal(symlink("round", in("own/round")), 0);
    FAILS(ctx, write_to(ctx, in("own/round"), false), SV_IO, "symbolic links");
    FAILS(root, read_from(root, in("own/round")), SV_IO, "symbolic links");
    FAILS(root, write_to(root, in("own/x/"), false), SV_IO, "Is a directory");
    FAILS(root, write_to(root, in("none/x"), false), SV_IO, "No such file");
}

static void only_regular_files(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(in("own/pipe"), 0600), 0);
    alarm(20); /* a pipe that nobody writes to would keep us for good */
    FAILS(root, read_from(root, in("own/pipe")), SV_IO, "not a regular file");
    FAILS(root, write_to(root, in("own/pipe"), false), SV_IO, "not a regular file");
    FAILS(root, read_from(root, "/dev/zero"), SV_IO, "not a regular file");
    FAILS(root, write_to(root, "/dev/null", true), SV_IO, "not a regular file");
    FAILS(root, read_from(root, "-"), SV_IO, "cannot open '-'"); /* it would wait for it */
    OK(ctx, write_to(ctx, "/dev/null", false));
    FAILS(ctx, read_from(ctx, in("own")), SV_IO, "it is a directory");
    alarm(0);
}

static unsigned mode_of(const char *path)
{
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    return about.st_mode & 0777;
}

static void modes(void **state)
{
    (void)state;
    OK(root, write_to(root, in("own/private"), false));
    OK(root, write_to(root, in("own/public"), true));
    OK(ctx, write_to(ctx, in("own/ordinary"), false));
    assert_int_equal(mode_of(in("own/private")), 0640);
    assert_int_equal(mode_of(in("own/public")), 0644);
    assert_int_equal(mode_of(in("own/ordinary")), 0644);
    assert_int_equal(chmod(in("own/public"), 0600), 0); /* somebody wants it so */
    OK(root, write_to(root, in("own/public"), true));
    assert_int_equal(mode_of(in("own/public")), 0600);
    assert_int_equal(chmod(in("own/private"), 0664), 0); /* as of an older version */
    OK(root, write_to(root, in("own/private"), false));
    assert_int_equal(mode_of(in("own/private")), 0660);
    assert_int_equal(chmod(in("own/ordinary"), 0664), 0);
    OK(ctx, write_to(ctx, in("own/ordinary"), false));
    assert_int_equal(mode_of(in("own/ordinary")), 0664);
    umask(0); /* whatever it is, nobody else writes to what root has written */
    OK(root, write_to(root, in("own/status"), true));
    assert_int_equal(mode_of(in("own/status")), 0644);
    umask(077);
    OK(ctx, write_to(ctx, in("own/hidden"), false));
    assert_int_equal(mode_of(in("own/hidden")), 0600);
    umask(022);
}

static void says_nothing_of_what_it_read(const char *path)
{
    static const char *const secrets[] = {"hunter2", "deadbeef"};
    for (size_t i = 0; i < 2; i++) {
        assert_null(strstr(sv_ctx_message(root), secrets[i]));
        assert_null(strstr(warned, secrets[i]));
    }
    if (strstr(sv_ctx_message(root), path) == NULL)
        fail_msg("%s", sv_ctx_message(root));
}

static void messages_quote_nothing(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "mesh:2,hosts=2");
    static const char *const texts[] = {"root:hunter2:0:0\n", "hunter2\n",
                                        "a b hunter2\n",      "root hunter2\nhunter2 root\n",
                                        "\"hunter2\n",        "deadbeefcafe1234\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char *path = in("own/secret");
        sv_jobmap *map = NULL;
        sv_node roots[8];
        size_t count;
        sv_file file;
        put_text(path, texts[i]);
        warned[0] = 0;
        assert_int_equal(sv_jobmap_load(root, f, path, &map), SV_BAD_INPUT);
        says_nothing_of_what_it_read(path);
        OK(root, sv_file_open(&file, root, path));
        assert_int_equal(sv_roots_read(root, f, &file.source, roots, &count, NULL), SV_BAD_INPUT);
        sv_file_close(&file);
        says_nothing_of_what_it_read(path);
    }
    /* Fabrics in all formats that text is taken for, and tables. */
    static const char *const fabrics[] = {
        "{\"hunter2\": [hunter2",
        "Switch\t2 \"S-1\"\n[1]\t\"H-hunter2\"[1]\nCa\t1 \"H-2\"\n[1]\t\"S-2\"[1]\n",
        "Switch\t2 \"S-1\"\nhunter2 secret",
        "Switch\t2 \"S-1\"\nhunter2 secret\n",
        "{ CA Ports:01 SystemGUID:hunter2 }\n",
        "hunter2,deadbeef\n",
    };
    for (size_t i = 0; i < sizeof fabrics / sizeof fabrics[0]; i++) {
        sv_fabric *read = NULL;
        put_text(in("own/secret"), fabrics[i]);
        warned[0] = 0;
        sv_status status = sv_fabric_load(root, in("own/secret"), &read);
        if (status == SV_OK)
            sv_fabric_free(read);
        else
            says_nothing_of_what_it_read(in("own/secret"));
        assert_null(strstr(warned, "hunter2"));
    }
    /* What is wrong is said all the same, and where. */
    put_text(in("own/secret"), "host0 job1\nhost1\n");
    sv_jobmap *map = NULL;
    FAILS(root, sv_jobmap_load(root, f, in("own/secret"), &map), SV_BAD_INPUT,
          "secret:2: node '…' has no job");
    sv_fabric_free(f);
}

/* A set whose directory others can write: its files must be files. */
static void sets_in_shared_directories(void **state)
{
    (void)state;
    static const sv_fileset_member members[] = {{"one", SV_STAMP_LINE}, {"two", SV_STAMP_TAIL}};
    static const sv_fileset_part parts[] = {{{"one", NULL}}, {{"two", NULL}}};
    sv_fileset_writer w;
    sv_fileset set;
    OK(root, sv_fileset_create(&w, root, in("shared"), members, 2));
    for (unsigned i = 0; i < 2; i++) {
        const sv_sink *sink = sv_fileset_begin(&w, i);
        assert_non_null(sink);
        assert_true(sink->write(sink->user, "text\nmore\n", 10));
    }
    OK(root, sv_fileset_commit(&w));
    sv_fileset_end(&w);
    assert_int_equal(mode_of(in("shared/one")), 0640);
    OK(root, sv_fileset_open(&set, root, in("shared"), parts, 2));
    sv_fileset_close(&set);
    assert_int_equal(unlink(in("shared/two")), 0);
    put_text(in("own/victim"), "old");
    assert_int_equal(symlink(in("own/victim"), in("shared/two")), 0);
    FAILS(root, sv_fileset_open(&set, root, in("shared"), parts, 2), SV_IO, "shared/two");
    /* Written again, the link is gone, and what it led to is as it was. */
    OK(root, sv_fileset_create(&w, root, in("shared"), members, 2));
    for (unsigned i = 0; i < 2; i++) {
        const sv_sink *sink = sv_fileset_begin(&w, i);
        assert_non_null(sink);
        assert_true(sink->write(sink->user, "x\n", 2));
    }
    OK(root, sv_fileset_commit(&w));
    sv_fileset_end(&w);
    assert_string_equal(text_of(in("own/victim")), "old");
    struct stat about;
    assert_int_equal(lstat(in("shared/two"), &about), 0);
    assert_true(S_ISREG(about.st_mode));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_that_others_can_make),
        cmocka_unit_test(directories_of_others),
        cmocka_unit_test(links_that_lead_nowhere),
        cmocka_unit_test(only_regular_files),
        cmocka_unit_test(modes),
        cmocka_unit_test(messages_quote_nothing),
        cmocka_unit_test(sets_in_shared_directories),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
