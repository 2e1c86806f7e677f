/*
 * test_formats.c: files in and out: what is written reads back as the same fabric, and whatever is
 * wrong with a file is said with its line.
 */
#include "support/testing.h"

#include "base/file.h"

static sv_ctx *ctx;
static char warnings[4000];

static void keep_warning(void *user, sv_log_level level, const char *message)
{
    (void)user, (void)level;
    strncat(warnings, message, sizeof warnings - strlen(warnings) - 2);
    strcat(warnings, "\n");
}

static int make_ctx(void **state)
{
    (void)state;
    sv_host host = {.log = keep_warning};
    ctx = sv_ctx_new(&host);
    return ctx == NULL;
}

static int free_ctx(void **state)
{
    (void)state;
    sv_ctx_free(ctx);
    return 0;
}

static char *written(const sv_fabric *f, sv_format format)
{
    test_buffer buffer;
    sv_sink sink = test_sink(&buffer);
    OK(ctx, sv_fabric_write(ctx, f, format, &sink));
    return buffer.text;
}

/* ---- what is written reads back ---- */

static void expect_same(const sv_fabric *a, const sv_fabric *b, const char *spec)
{
    sv_diff *diff = NULL;
    OK(ctx, sv_fabric_diff(ctx, a, b, SV_MATCH_GUID, &diff));
    if (diff->length != 0)
        fail_msg("%s: %zu differences", spec, diff->length);
    assert_int_equal(a->live_channels, b->live_channels);
    sv_diff_free(diff);
}

static const char *const specs[] = {"torus:4x4x3,hosts=4",
                                    "mesh:1",
                                    "kary:k=3,n=3,hosts=3",
                                    "dragonfly:a=4,p=2,h=2,g=9",
                                    "torus:3x3,r=3",
                                    "fullmesh:20",
                                    "slimfly:q=5",
                                    "taurus",
                                    "hypercube:4,hosts=0",
                                    "deimos",
                                    "kautz:d=3,k=3,speed=EDR,width=12",
                                    "hyperx:4x3,speed=fdr10",
                                    "tsubame2:rail=2"};

static void round_trips(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        sv_fabric *f = test_fabric(ctx, specs[i]);
        for (sv_format format = SV_FORMAT_IBNETDISCOVER; format <= SV_FORMAT_SUBNET; format++) {
            if (format == SV_FORMAT_SUBNET && f->num_channels == 0)
                continue; /* a node without cables cannot be said there */
            char *text = written(f, format);
            sv_fabric *back = test_read(ctx, text);
            expect_same(f, back, specs[i]);
            for (uint32_t s = 0; s < f->num_switches; s++)
                assert_int_equal(f->switches[s].ports, back->switches[s].ports);
            char *again = written(back, format);
            assert_string_equal(text, again);
            free(text);
            free(again);
            sv_fabric_free(back);
        }
        sv_fabric_free(f);
    }
}

static void what_failed_is_not_written(void **state)
{
    (void)state;
    sv_fabric *whole = test_fabric(ctx, "torus:4x4x3,hosts=4"), *left = NULL;
    sv_fault_plan plan = {.seed = 3, .links = {false, 9}, .switches = {false, 2}};
    sv_fault_report report;
    sv_mask *mask = sv_mask_new(ctx, whole);
    OK(ctx, sv_faults_draw(ctx, whole, &plan, mask, &report));
    OK(ctx, sv_fabric_mask(ctx, whole, mask, &left));
    for (sv_format format = SV_FORMAT_IBNETDISCOVER; format <= SV_FORMAT_SUBNET; format++) {
        char *text = written(left, format);
        sv_fabric *back = test_read(ctx, text);
        assert_int_equal(back->num_switches, 46);
        assert_int_equal(back->num_terminals, 184);
        assert_int_equal(test_links(back), test_links(left));
        expect_same(left, back, "a broken torus");
        free(text);
        sv_fabric_free(back);
    }
    sv_mask_free(mask);
    sv_fabric_free(left);
    sv_fabric_free(whole);
}

static void too_many_ports_for_infiniband(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "fullmesh:300");
    test_buffer buffer;
    sv_sink sink = test_sink(&buffer);
    FAILS(ctx, sv_fabric_write(ctx, f, SV_FORMAT_IBNETDISCOVER, &sink), SV_INFEASIBLE, "300 ports");
    FAILS(ctx, sv_fabric_write(ctx, f, SV_FORMAT_SUBNET, &sink), SV_INFEASIBLE, "254");
    OK(ctx, sv_fabric_write(ctx, f, SV_FORMAT_JSON, &sink));
    FAILS(ctx, sv_fabric_write(ctx, f, SV_FORMAT_NETLOC, &sink), SV_UNSUPPORTED, "written");
    free(buffer.text);
    sv_fabric_free(f);
    /* One more than fits, and just what fits. */
    f = test_fabric(ctx, "fullmesh:256,hosts=0");
    sink = test_sink(&buffer);
    FAILS(ctx, sv_fabric_write(ctx, f, SV_FORMAT_SUBNET, &sink), SV_INFEASIBLE, "255 ports");
    free(buffer.text);
    sv_fabric_free(f);
    f = test_fabric(ctx, "fullmesh:255,hosts=0");
    char *text = written(f, SV_FORMAT_IBNETDISCOVER);
    sv_fabric *back = test_read(ctx, text);
    assert_int_equal(test_links(back), 255 * 254 / 2);
    free(text);
    sv_fabric_free(back);
    sv_fabric_free(f);
}

/* ---- details of ibnetdiscover ---- */

static const char lab[] =
    "#\n# Topology file: generated on Sun Feb 21 16:30:17 2021\n#\n\n"
    "vendid=0x2c9\ndevid=0xd2f0\nsysimgguid=0xb859\nswitchguid=0xb859(b859)\n"
    "Switch\t41 \"S-000000000000b859\"\t\t# \"MF0;sw \"95\":QM/U1\" enhanced port 0 lid 13 lmc 0\n"
    "[3]\t\"S-00000000000002c9\"[1]\t\t# \"other\" lid 19 4xFDR\n"
    "[23]\t\"H-00000000000000ec\"[1](ed) \t\t# \"host HCA-1\" lid 9 4xEDR\n"
    "[24]\t\"H-00000000000000ec\"[2](ee) \t\t# \"host HCA-1\" lid 65535 4xEDR\n"
    "[25]\t\"R-0000000000000077\"[1](78) \t\t# \"gateway\" lid 30 4xEDR\n"
    "[41]\t\"H-00000000000000b8\"[1](b8) \t\t# \"Mellanox Technologies Aggregation Node\" lid 14 "
    "4xHDR\n\n"
    "vendid=0x2c9\ndevid=0xc738\nsysimgguid=0x2c9\nswitchguid=0x2c9(2c9)\n"
    "Switch\t36 \"S-00000000000002c9\"\t\t# \"other\" base port 0 lid 19 lmc 0\n"
    "[1]\t\"S-000000000000b859\"[3]\t\t# \"MF0;sw \"95\":QM/U1\" lid 13 4xFDR\n"
    "[25]\t\"S-00000000000002c9\"[26]\t\t# \"other\" lid 19 4xFDR10\n"
    "[26]\t\"S-00000000000002c9\"[25]\t\t# \"other\" lid 19 4xFDR10\n\n"
    "vendid=0x2c9\ndevid=0x1017\nsysimgguid=0xec\ncaguid=0xec\n"
    "Ca\t2 \"H-00000000000000ec\"\t\t# \"host HCA-1\"\n"
    "[1](ed) \t\"S-000000000000b859\"[23]\t\t# lid 9 lmc 1 \"MF0;sw \"95\":QM/U1\" lid 13 4xEDR\n"
    "[2](ee) \t\"S-000000000000b859\"[24]\t\t# lid 0 lmc 0 \"MF0;sw \"95\":QM/U1\" lid 13 4xEDR\n\n"
    "vendid=0x2c9\ndevid=0xcf09\nsysimgguid=0xb859\ncaguid=0xb8\n"
    "Ca\t1 \"H-00000000000000b8\"\t\t# \"Mellanox Technologies Aggregation Node\"\n"
    "[1](b8) \t\"S-000000000000b859\"[41]\t\t# lid 14 lmc 0 \"MF0;sw \"95\":QM/U1\" lid 13 "
    "4xHDR\n\n"
    "vendid=0x2c9\ndevid=0x1\nsysimgguid=0x77\nrtguid=0x77\n"
    "Rt\t1 \"R-0000000000000077\"\t\t# \"gateway\"\n"
    "[1](78) \t\"S-000000000000b859\"[25]\t\t# lid 30 lmc 0 \"MF0;sw \"95\":QM/U1\" lid 13 4xEDR\n";

static void everything_in_a_file_is_kept(void **state)
{
    (void)state;
    sv_fabric *f = test_read(ctx, lab);
    assert_int_equal(f->num_switches, 2);
    assert_int_equal(f->num_adapters, 3);
    assert_int_equal(f->num_terminals, 4);
    assert_string_equal(f->switches[0].name, "MF0;sw \"95\":QM/U1");
    assert_int_equal(f->switches[0].ports, 41);
    assert_int_equal(f->switches[0].lid, 13);
    assert_true(f->switches[0].enhanced_port0);
    assert_false(f->switches[1].enhanced_port0);
    assert_int_equal(f->switches[1].device, 0xc738);
    assert_int_equal(f->terminals[0].lid, 9);
    assert_int_equal(f->terminals[0].lmc, 1);
    assert_int_equal(f->terminals[1].guid, 0xee);
    assert_int_equal(f->terminals[1].lid, 0);
    assert_int_equal(f->adapters[1].kind, SV_ADAPTER_SPECIAL);
    assert_int_equal(f->terminals[2].role, SV_ROLE_OTHER);
    assert_int_equal(f->adapters[2].kind, SV_ADAPTER_ROUTER);
    assert_int_equal(f->terminals[0].role, SV_ROLE_COMPUTE);
    assert_int_equal(test_links(f), 1);
    char *text = written(f, SV_FORMAT_IBNETDISCOVER);
    const char *body = strstr(text, "vendid"), *original = strstr(lab, "vendid");
    /* All but the unassigned LID, written as 0. */
    char *expected = strdup(original), *odd = strstr(expected, "65535");
    memmove(odd + 1, odd + 5, strlen(odd + 5) + 1);
    *odd = '0';
    assert_string_equal(body, expected);
    free(expected);
    free(text);
    sv_fabric_free(f);
}

static void hand_written_files_need_little(void **state)
{
    (void)state;
    sv_fabric *f = test_read(ctx, "# a test\n  Switch 8 \"A\"\n[1] \"B\"[2]\n[2] \"x\"\n\n"
                                  "Switch 8 \"B\"\n[2] \"A\"[1]\n\nHca 2 \"x\"\n[1] \"A\"[2]\n");
    assert_int_equal(f->num_switches, 2);
    assert_string_equal(f->switches[1].name, "B");
    assert_int_equal(f->switches[0].guid, 0x200000);
    assert_int_equal(f->switches[1].guid, 0x200001);
    assert_int_equal(f->adapters[0].guid, 0x100000);
    assert_int_equal(f->terminals[0].guid, 0x100001);
    assert_int_equal(sv_link_of(f, (sv_channel){0})->width, 0);
    sv_fabric_free(f);
}

static void one_sided_cables_are_kept_and_marked(void **state)
{
    (void)state;
    sv_fabric *f = test_read(ctx, "Switch 8 \"A\"\n[1] \"B\"[2]\n[2] \"x\"[2](99)\n\n"
                                  "Switch 8 \"B\"\n\nHca 2 \"x\"\n");
    sv_oddities odd;
    OK(ctx, sv_fabric_oddities(ctx, f, &odd));
    assert_int_equal(odd.count[SV_ODD_ONE_SIDED], 2);
    assert_int_equal(f->num_terminals, 1);
    assert_int_equal(f->terminals[0].port, 2);
    assert_int_equal(f->terminals[0].guid, 0x99);
    sv_fabric_free(f);
}

static void a_terminal_capture_is_read(void **state)
{
    (void)state;
    warnings[0] = 0;
    sv_fabric *f =
        test_read(ctx, "=~=~= PuTTY log =~=~=\r\n\r\r\n# Topology file: generated\r\n"
                       "switchguid=0x5(5)\r\nSwitch41 \"S-5\"# \"sw\" enhanced port 0 lid "
                       "1 lmc 0\r\n[1]\"H-6\"[1](6) # \"h\" lid 65535 4xHDR\r\n\r\n"
                       "caguid=0x6\r\nCa1 \"H-6\"# \"h\"\r\n"
                       "[1](6) \"S-5\"[1]# lid 2 lmc 0 \"sw\" lid 1 4xHDR\r\n"
                       "\rufm [ active ] (config) # ");
    assert_int_equal(f->num_channels, 2);
    assert_non_null(strstr(warnings, "test:1: skipped 1 line(s) before the topology"));
    assert_non_null(strstr(warnings, "test:11: skipped 'ufm [ active ] (config) # ' at the end"));
    sv_fabric_free(f);
}

/* What a shell prints before and after, as it comes from a window. */
static void a_shell_capture_is_read(void **state)
{
    (void)state;
    warnings[0] = 0;
    sv_fabric *f = test_read(ctx, "[root@mgmt ~]# ibnetdiscover\n#\n# Topology file\n#\n\n"
                                  "switchguid=0x5\nSwitch 8 \"S-5\" # \"sw\"\n[root@mgmt ~]# ");
    assert_int_equal(f->num_switches, 1);
    assert_non_null(strstr(warnings, "test:1: skipped 1 line(s)"));
    assert_non_null(strstr(warnings, "test:8: skipped '[root@mgmt ~]# '"));
    sv_fabric_free(f);
}

/* ibnetdiscover -f adds what ports can do, -g puts nodes into chassis. */
static void full_and_grouped_output_is_read(void **state)
{
    (void)state;
    sv_fabric *f =
        test_read(ctx, "# Topology file\n\nChassis 1 (guid 0x77)\n\nswitchguid=0x5(5)\t# Spine 1\n"
                       "Switch\t8 \"S-5\"\t\t# \"a\" base port 0 lid 1 lmc 0\n"
                       "[1][ext 3]\t\"S-6\"[2][ext 4]\t\t# \"b\" lid 2 4xQDR s=4 w=2 v=4\n\n"
                       "Non-Chassis Nodes\n\nswitchguid=0x6(6)\t# \n"
                       "Switch\t8 \"S-6\"\t\t# \"b\" base port 0 lid 2 lmc 0\n"
                       "[2]\t\"S-5\"[1]\t\t# \"a\" lid 1 4xQDR s=4 w=2 v=3\n");
    assert_int_equal(f->num_switches, 2);
    assert_int_equal(sv_link_of(f, (sv_channel){0})->vls, 4); /* what both ends can do */
    sv_fabric_free(f);
}

static void a_speed_that_one_end_knows_is_kept(void **state)
{
    (void)state;
    warnings[0] = 0;
    sv_fabric *f = test_read(ctx, "Switch 8 \"A\"\n[1] \"B\"[1] # \"B\" lid 0 4xQDR\n\n"
                                  "Switch 8 \"B\"\n[1] \"A\"[1]\n");
    assert_int_equal(sv_link_of(f, (sv_channel){0})->speed, SV_SPEED_QDR);
    assert_string_equal(warnings, "");
    sv_fabric_free(f);
}

static void ends_with_different_speeds_are_warned_of(void **state)
{
    (void)state;
    warnings[0] = 0;
    sv_fabric *f = test_read(ctx, "Switch 8 \"A\"\n[1] \"B\"[2] # \"B\" lid 1 4xFDR\n\n"
                                  "Switch 8 \"B\"\n[2] \"A\"[1] # \"A\" lid 1 4xQDR\n");
    assert_int_equal(sv_link_of(f, (sv_channel){0})->speed, SV_SPEED_QDR);
    assert_non_null(strstr(warnings, "test:2: the ends of 1 cable(s) differ in speed"));
    sv_fabric_free(f);
    warnings[0] = 0;
    f = test_read(ctx, "Switch 8 \"A\"\n[1] \"B\"[2] # \"B\" lid 1 4xQDR\n\n"
                       "Switch 8 \"B\"\n[2] \"A\"[1] # \"A\" lid 1 1xQDR\n");
    assert_int_equal(sv_link_of(f, (sv_channel){0})->width, 1);
    assert_non_null(strstr(warnings, "test:2: the ends of 1 cable(s) differ in speed"));
    sv_fabric_free(f);
}

/* The last LID of a port's own is kept; those of groups are not anybody's. */
static void lids_have_a_limit(void **state)
{
    (void)state;
    sv_fabric *f = test_read(ctx, "Switch 8 \"A\" # \"a\" lid 49151\n\n"
                                  "Switch 8 \"B\" # \"b\" lid 49152\n");
    assert_int_equal(f->switches[0].lid, 49151);
    assert_int_equal(f->switches[1].lid, 0);
    sv_fabric_free(f);
}

/* A system GUID is of the next node only: a host does not become a part of its switch. */
static void a_system_guid_is_used_once(void **state)
{
    (void)state;
    sv_fabric *f = test_read(ctx, "sysimgguid=0x1\nswitchguid=0x1\nSwitch 8 \"A\"\n[1] \"x\"[1]\n\n"
                                  "caguid=0x10\nCa 1 \"x\"\n[1] \"A\"[1]\n");
    assert_int_equal(f->adapters[0].kind, SV_ADAPTER_HOST);
    assert_int_equal(f->adapters[0].system_guid, 0x10);
    sv_fabric_free(f);
}

/* Nodes without a cable are nodes, too. */
static void what_has_no_cable_is_kept(void **state)
{
    (void)state;
    sv_fabric *f = test_read(ctx, "Switch 8 \"A\"\n[1] \"B\"[1]\n\nSwitch 8 \"B\"\n[1] \"A\"[1]\n\n"
                                  "Switch 8 \"C\"\n\nHca 1 \"x\"\n");
    char *text = written(f, SV_FORMAT_IBNETDISCOVER);
    sv_fabric *back = test_read(ctx, text);
    expect_same(f, back, "a switch and an adapter without cables");
    assert_int_equal(back->num_switches, 3);
    assert_int_equal(back->num_adapters, 1);
    free(text);
    text = written(f, SV_FORMAT_JSON);
    assert_non_null(strstr(text, "{\"adapter\": 0, \"name\": \"x\""));
    free(text);
    warnings[0] = 0;
    free(written(f, SV_FORMAT_SUBNET));
    assert_non_null(strstr(warnings, "1 node(s) without a cable cannot be written"));
    sv_fabric_free(back);
    sv_fabric_free(f);
}

static void cannot_write(const char *text, sv_format format, const char *message)
{
    sv_fabric *f = test_read(ctx, text);
    test_buffer buffer;
    sv_sink sink = test_sink(&buffer);
    FAILS(ctx, sv_fabric_write(ctx, f, format, &sink), SV_INFEASIBLE, message);
    free(buffer.text);
    sv_fabric_free(f);
}

static void what_a_format_cannot_hold(void **state)
{
    (void)state;
    const char *twins = "switchguid=0x5\nSwitch 8 \"A\"\n[1] \"B\"[2]\n\nswitchguid=0x5\n"
                        "Switch 8 \"B\"\n[2] \"A\"[1]\n";
    cannot_write(twins, SV_FORMAT_IBNETDISCOVER, "'A' and 'B' share GUID 0x");
    cannot_write(twins, SV_FORMAT_SUBNET, "'A' and 'B' share GUID 0x");
    cannot_write("switchguid=0x0\nSwitch 8 \"A\"\n", SV_FORMAT_IBNETDISCOVER,
                 "'A' has no GUID, which this format needs");
    cannot_write("Switch 8 \"A\"\n", SV_FORMAT_SUBNET, "without cables");
    cannot_write("Switch 8 \"A\" # \"x} LID:0001 PN:01\"\n[1] \"B\"[1]\n\nSwitch 8 \"B\"\n[1] "
                 "\"A\"[1]\n",
                 SV_FORMAT_SUBNET, "cannot hold the name");
    sv_builder *builder = sv_builder_new(ctx);
    sv_switch_info about = {.name = "two\nlines", .guid = 1, .ports = 1};
    sv_fabric *f = NULL;
    test_buffer buffer;
    sv_sink sink = test_sink(&buffer);
    OK(ctx, sv_builder_add_switch(builder, &about, NULL));
    OK(ctx, sv_builder_finish(builder, &f));
    FAILS(ctx, sv_fabric_write(ctx, f, SV_FORMAT_IBNETDISCOVER, &sink), SV_INFEASIBLE,
          "has a line break in it");
    free(buffer.text);
    sv_fabric_free(f);
}

/* Roots of trees with aggregation nodes in every switch, and with leaves nobody has filled. */
static void levels_of_real_trees(void **state)
{
    (void)state;
    sv_fabric *f = test_read(
        ctx, "sysimgguid=0x1\nswitchguid=0x1\nSwitch 8 \"L\"\n[1] \"h\"[1]\n[7] \"R\"[1]\n"
             "[8] \"x\"[1]\n\nsysimgguid=0x2\nswitchguid=0x2\nSwitch 8 \"R\"\n[1] \"L\"[7]\n"
             "[8] \"y\"[1]\n\ncaguid=0x10\nCa 1 \"h\" # \"host\"\n[1] \"L\"[1]\n\n"
             "sysimgguid=0x1\ncaguid=0x20\nCa 1 \"x\" # \"an\"\n[1] \"L\"[8]\n\n"
             "sysimgguid=0x2\ncaguid=0x30\nCa 1 \"y\" # \"an\"\n[1] \"R\"[8]\n");
    char *roots = written(f, SV_FORMAT_ROOT_GUIDS);
    assert_string_equal(roots, "0x0000000000000002\n");
    free(roots);
    sv_fabric_free(f);
    f = test_fabric(ctx, "kary:k=3,n=3,total=7"); /* leaves 7 and 8 are empty */
    roots = written(f, SV_FORMAT_ROOT_GUIDS);
    assert_non_null(strstr(roots, "0x02005e1a00000013\n"));
    assert_int_equal(strlen(roots), 9 * strlen("0x02005e1a00000013\n"));
    free(roots);
    sv_fabric_free(f);
}

/* ---- wrong input ---- */

static void expect_refused(const char *text, size_t length, const char *message)
{
    sv_memory memory = {text, length};
    sv_source source = sv_memory_source(&memory, "test");
    sv_fabric *fabric = NULL;
    sv_status status = sv_fabric_read(ctx, &source, SV_FORMAT_AUTO, &fabric);
    if (status != SV_BAD_INPUT || strcmp(sv_ctx_message(ctx), message) != 0)
        fail_msg("status %d \"%s\" instead of \"%s\"", status,
                 status == SV_OK ? "" : sv_ctx_message(ctx), message);
    assert_null(fabric);
}

#define REFUSED(text, message) expect_refused(text, sizeof(text) - 1, message)

static void wrong_ibnetdiscover_files_have_a_place(void **state)
{
    (void)state;
    REFUSED("", "test:1: the file is empty");
    REFUSED("\n\n# Topology file\n", "test:1: no nodes in this file");
    REFUSED("hello\nworld\n", "test:1: not a fabric in a format that selvage knows (ibnetdiscover, "
                              "opensm-subnet.lst, netloc nodes, Cray interconnect)");
    REFUSED("\0\1\2\3", "test:1: zero bytes: this is not a text file");
    REFUSED("Switch x \"A\"\n", "test:1: the number of ports is missing");
    REFUSED("Switch 0 \"A\"\n", "test:1: 0 ports: a node has 1 to 254");
    REFUSED("Switch 99999999999999999999 \"A\"\n", "test:1: the number of ports is absurd");
    REFUSED("vendid=0x123456789\nSwitch 8 \"A\"\n", "test:1: vendid= is more than 32 bits");
    REFUSED("SwitchName=leaf0 Nodes=n[0-3]\n",
            "test:1: not a fabric in a format that selvage knows (ibnetdiscover, "
            "opensm-subnet.lst, netloc nodes, Cray interconnect)");
    REFUSED("Switch 4000000000 \"A\"\n", "test:1: 4000000000 ports: a node has 1 to 254");
    REFUSED("Switch 8 A\n", "test:1: the node's id in quotes is missing");
    REFUSED("Switch 8 \"A\n", "test:1: the node's id in quotes is missing");
    REFUSED("Switch 8 \"\"\n", "test:1: a node without an id");
    REFUSED("Switch 8 \"A\" # \"n\" lid x\n",
            "test:1: lid is not followed by a number up to 65535");
    REFUSED("Switch 8 \"A\" # \"n\" lid 5 lmc 8\n",
            "test:1: lmc is not followed by a number up to 7");
    REFUSED("Switch 8 \"A\" nonsense\n", "test:1: unexpected 'nonsense'");
    REFUSED("switchguid=xyz\n", "test:1: switchguid= is not followed by a hexadecimal number");
    REFUSED("# Topology file\n[1] \"A\"[1]\n", "test:2: a port outside of a node's section");
    REFUSED("Switch 8 \"A\"\n\nswitchguid=0x5\n[1] \"A\"[2]\n",
            "test:4: a port outside of a node's section");
    REFUSED("Switch 8 \"A\"\n[x] \"A\"[1]\n", "test:2: not understood: '[x] \"A\"[1]'");
    REFUSED("Switch 8 \"A\"\n[1 \"A\"[1]\n",
            "test:2: '[' is not followed by a port's number and ']'");
    REFUSED("Switch 8 \"A\"\n[9] \"B\"[1]\n", "test:2: port 9 of \"A\", which has ports 1 to 8");
    REFUSED("Switch 8 \"A\"\n[0] \"B\"[1]\n", "test:2: port 0 of \"A\", which has ports 1 to 8");
    REFUSED("Switch 8 \"A\"\n[1] \"B\"[1]\n", "test:2: unknown node \"B\"");
    REFUSED("Switch 8 \"A\"\n[1] B\n", "test:2: the other node's id in quotes is missing");
    REFUSED("Switch 8 \"A\"\n[1](zz) \"B\"[1]\n",
            "test:2: a port's GUID in brackets is not a hexadecimal number");
    REFUSED("Switch 8 \"A\"\n[1] \"A\"[1]\n", "test:2: port 1 of \"A\" is cabled to itself");
    REFUSED("Switch 8 \"A\"\n[1] \"A\"[9]\n", "test:2: port 9 of \"A\", which has ports 1 to 8");
    REFUSED("Switch 8 \"A\"\n[1] \"B\"[1]\n[1] \"B\"[2]\n\nSwitch 8 \"B\"\n",
            "test:3: port 1 of \"A\" is used twice, first in line 2");
    REFUSED("Switch 8 \"A\"\n[1] \"B\"[1]\n[2] \"B\"[1]\n\nSwitch 8 \"B\"\n",
            "test:3: port 1 of \"B\" is used twice, first in line 2");
    REFUSED("Switch 8 \"A\"\n\nSwitch 8 \"A\"\n",
            "test:3: node \"A\" appears twice, first in line 1: do two devices have one GUID?");
    REFUSED("Switch 8 \"A\"\n[1] \"B\"[1]\n\nSwitch 8 \"B\"\n[1] \"A\"[2]\n",
            "test:2: the ends disagree: \"A\" port 1 leads to \"B\" port 1, which leads to \"A\" "
            "port 2 (line 5)");
    REFUSED("Switch 8 \"A\"\n[1] \"B\"[1] # \"B\" lid 1 4xABC\n\nSwitch 8 \"B\"\n",
            "test:2: '4xABC' is not a width and speed like 4xQDR");
    REFUSED("Switch 8 \"A\"\n[1] \"B\"[1] # \"B\" lid 1 3xQDR\n\nSwitch 8 \"B\"\n",
            "test:2: '3xQDR' is not a width and speed like 4xQDR");
    REFUSED("Switch 8 \"A\"\nwhat is this\n", "test:2: not understood: 'what is this'");
    /* A file that was cut off in the middle of a line. */
    REFUSED("switchguid=0x5\nSwitch 8 \"S-5\" # \"A\"\n\nsysim", "test:4: not understood: 'sysim'");
    REFUSED("switchguid=0x5\nSwitch 8 \"S-5\" # \"A\"\n[1]\t\"H-",
            "test:3: the other node's id in quotes is missing");
    REFUSED("switchguid=0x5\nSwitch 8 \"S-5\" # \"A\"\n\nCa", "test:4: not understood: 'Ca'");
}

#define PORT_A                                                                                     \
    "{ SW Ports:08 SystemGUID:01 NodeGUID:01 PortGUID:01 VenID:02C9 DevID:00 Rev:A1 {a} LID:0002 " \
    "PN:01 }"
#define PORT_B                                                                                     \
    "{ CA Ports:02 SystemGUID:05 NodeGUID:05 PortGUID:06 VenID:02C9 DevID:00 Rev:A1 {b} LID:0004 " \
    "PN:01 }"

static void subnet_lists_are_read(void **state)
{
    (void)state;
    sv_fabric *f = test_read(ctx, PORT_A " " PORT_B " PHY=4x LOG=ACT SPD=14\n" PORT_B " " PORT_A
                                         " PHY=4x LOG=ACT SPD=14\n");
    assert_int_equal(f->num_switches, 1);
    assert_int_equal(f->switches[0].lid, 2);
    assert_int_equal(f->terminals[0].lid, 4);
    assert_int_equal(f->terminals[0].guid, 6);
    assert_int_equal(sv_link_of(f, (sv_channel){0})->speed, SV_SPEED_FDR);
    sv_fabric_free(f);
    REFUSED(PORT_A " PHY=4x\n", "test:1: not a port as in opensm-subnet.lst, from 'PHY=4x'");
    REFUSED(PORT_A " " PORT_B "\n", "test:1: PHY= is missing: is the line cut off?");
    REFUSED(PORT_A " " PORT_B " PHY=4x LOG=ACT\n" PORT_A " " PORT_B " PHY=4x LOG=ACT\n",
            "test:2: port 1 of \"0000000000000001\" is used twice, first in line 1");
    REFUSED("{ SW Ports:FFFF SystemGUID:01 NodeGUID:01 PortGUID:01 VenID:02C9 DevID:00 Rev:A1 {a} "
            "LID:0002 PN:01 } " PORT_B " PHY=4x\n",
            "test:1: 65535 ports: a node has 1 to 254");
    REFUSED("{ SW Ports:09 SystemGUID:01 NodeGUID:01 PortGUID:01 VenID:02C9 DevID:00 Rev:A1 {a} "
            "LID:0002 PN:02 } " PORT_B " PHY=4x\n" PORT_A " " PORT_B " PHY=4x LOG=ACT\n",
            "test:2: node 0000000000000001 is described differently in line 1");
    REFUSED("{ CA Ports:08 SystemGUID:01 NodeGUID:01 PortGUID:01 VenID:02C9 DevID:00 Rev:A1 {a} "
            "LID:0002 PN:02 } " PORT_B " PHY=4x\n" PORT_A " " PORT_B " PHY=4x LOG=ACT\n",
            "test:2: node 0000000000000001 is described differently in line 1");
}

/* A line of one end only; system GUIDs that are not known; a LID that is not assigned. */
static void short_subnet_lists_are_read(void **state)
{
    (void)state;
    sv_fabric *f = test_read(
        ctx, "{ SW Ports:08 SystemGUID:00 NodeGUID:01 PortGUID:01 VenID:02C9 DevID:00 Rev:A1 {a} "
             "LID:FFFF PN:01 } { CA Ports:02 SystemGUID:00 NodeGUID:05 PortGUID:06 VenID:02C9 "
             "DevID:00 Rev:A1 {b} LID:0004 PN:01 } PHY=4x LOG=ACT\n"
             "{ CA Ports:01 SystemGUID:00 NodeGUID:08 PortGUID:09 VenID:02C9 DevID:00 Rev:A1 {c} "
             "LID:C000 PN:01 } { SW Ports:08 SystemGUID:00 NodeGUID:01 PortGUID:01 VenID:02C9 "
             "DevID:00 Rev:A1 {a} LID:FFFF PN:02 } PHY=4x LOG=ACT\n");
    sv_oddities odd;
    OK(ctx, sv_fabric_oddities(ctx, f, &odd));
    assert_int_equal(odd.count[SV_ODD_ONE_SIDED], 2);
    assert_int_equal(f->switches[0].lid, 0);
    sv_node near = f->head[sv_channel_at(f, (sv_node){0}, 1).i];
    sv_node far = f->head[sv_channel_at(f, (sv_node){0}, 2).i];
    assert_int_equal(sv_terminal_of(f, near)->guid, 6);
    assert_int_equal(sv_terminal_of(f, far)->guid, 9);
    assert_int_equal(sv_terminal_of(f, far)->lid, 0);
    for (uint32_t a = 0; a < f->num_adapters; a++)
        assert_int_equal(f->adapters[a].kind, SV_ADAPTER_HOST);
    sv_fabric_free(f);
}

/* Port GUIDs are neither their node's nor one more. */
static void subnet_lists_keep_port_guids(void **state)
{
    (void)state;
    sv_fabric *f = test_read(ctx, lab);
    char *text = written(f, SV_FORMAT_SUBNET);
    sv_fabric *back = test_read(ctx, text);
    for (unsigned port = 23; port <= 25; port++) {
        sv_node was = f->head[sv_channel_at(f, (sv_node){0}, port).i];
        sv_node is = back->head[sv_channel_at(back, (sv_node){0}, port).i];
        assert_int_equal(sv_node_guid(f, was), sv_node_guid(back, is));
        assert_int_equal(sv_terminal_of(f, was)->lid, sv_terminal_of(back, is)->lid);
    }
    free(text);
    sv_fabric_free(back);
    sv_fabric_free(f);
}

static void cray_dumps_are_read(void **state)
{
    (void)state;
    sv_fabric *f = test_read(ctx, "c0-0c0s0a0l00(0:0:0) green -> c0-0c0s1a0l10(0:0:1)\n"
                                  "c0-0c0s0a0l04(0:0:0) blue -> unused\n"
                                  "c0-0c0s0a0l50(0:0:0) ptile -> processor\n"
                                  "c0-0c0s0a0l51(0:0:0) ptile -> processor\n"
                                  "c0-0c0s1a0l10(0:0:1) green -> c0-0c0s0a0l00(0:0:0)\n"
                                  "c0-0c0s1a0l11(0:0:1) green -> unused\n"
                                  "c0-0c0s1a0l56(0:0:1) ptile -> processor\n"
                                  "c0-0c0s1a0l57(0:0:1) ptile -> processor\n");
    assert_int_equal(f->num_switches, 2);
    assert_int_equal(f->num_terminals, 2);
    assert_string_equal(f->adapters[1].name, "c0-0c0s1a0n3");
    assert_int_equal(f->port[f->reverse[0].i], 9);
    sv_fabric_free(f);
    /* A name that is longer than any Cray's. */
    f = test_read(ctx,
                  "c0-0c000000000000000000000000000000000000000000000000000000000000000000000000"
                  "0000000000000000000000000000000000000001s0a0l50(0:0:0) ptile -> processor\n");
    assert_int_equal(strlen(f->adapters[0].name), 123);
    sv_fabric_free(f);
    REFUSED("c0-0c0s0a0l00(0:0:0) green -> c0-0c0s1a0l10(0:0:1)\n"
            "c0-0c0s0a0l01(0:0:0) blue -> unused\n"
            "c0-0c0s1a0l10(0:0:1) green -> c0-0c0s0a0l00(0:0:0)\n",
            "test:3: router \"c0-0c0s1a0\" lists 1 tiles, the first one 2: is the file cut off?");
    REFUSED("c0-0c0s0a0l00(0:0:0) green -> c0-0c0s1a0l10(0:0:1)\n",
            "test:1: unknown node \"c0-0c0s1a0\"");
    REFUSED(
        "c0-0c0s0a0l00(0:0:0) green -> c0-0c0s1a0l10(0:0:1)\nc0-0c0s0a0l09(0:0:0) x -> unused\n",
        "test:2: not a tile like c0-0c0s0a0l00(0:0:0)");
    REFUSED("c0-0c0s0a0l00(0:0:0) x -> unused\nc0-0c0s0a0l08(0:0:0) x -> unused\n",
            "test:2: not a tile like c0-0c0s0a0l00(0:0:0)");
    REFUSED("c0-0c0s0a0l46(0:0:0) ptile -> processor\n", "test:1: tile 39 is no processor tile");
    REFUSED("c0-0c0s0a0l00(0:0:0) green = unused\n", "test:1: a colour and '->' are missing");
    REFUSED("c0-0c0s0a0l00(0:0:0) green -> moon\n",
            "test:1: '->' is not followed by a tile, unused or processor");
}

#define NODE(id, type) "\"" id "\":{\"node_type\":" type ",\"log_id\":\"3\",\"desc\":\"'n'\"}"
#define EDGE(n, a, pa, b, pb)                                                                      \
    "\"" n "\":{\"src_node_id\":\"" a "\",\"src_port_id\":\"" pa "\",\"dest_node_id\":\"" b        \
    "\",\"dest_port_id\":\"" pb "\",\"speed\":\"QDR\",\"width\":\"4x\"}"
#define NETLOC(nodes, edges) "{\"node_info\":{" nodes "},\"edge_info\":{" edges "}}"

static void netloc_files_are_read(void **state)
{
    (void)state;
    if (strstr(sv_features(), "jansson") == NULL)
        skip();
    sv_fabric *f = test_read(ctx, NETLOC(NODE("0000:0001", "1") "," NODE("0000:0002", "2"),
                                         EDGE("7", "0000:0001", "5", "0000:0002", "1") "," EDGE(
                                             "8", "0000:0002", "1", "0000:0001", "5")));
    assert_int_equal(f->num_switches, 1);
    assert_int_equal(f->switches[0].ports, 5);
    assert_int_equal(f->switches[0].lid, 3);
    assert_int_equal(f->terminals[0].guid, 2);
    assert_int_equal(f->terminals[0].lid, 3);
    assert_string_equal(f->adapters[0].name, "n");
    sv_fabric_free(f);
    /* Ports are counted from both sides of cables that have one edge only; a node has one. */
    f = test_read(ctx, NETLOC(NODE("01", "1") "," NODE("02", "2") "," NODE("03", "1"),
                              EDGE("7", "02", "1", "01", "9")));
    assert_int_equal(f->switches[0].ports, 9);
    assert_int_equal(f->switches[1].ports, 1);
    sv_fabric_free(f);
    REFUSED("{\"node_info\":{}}\n",
            "test:1: JSON without node_info and edge_info: not a netloc nodes file");
    REFUSED(NETLOC(NODE("x", "1"), ""), "test:1: node id 'x' is not a GUID");
    REFUSED(NETLOC(NODE("01", "9"), ""), "test:1: node 01 has no node_type 1 or 2");
    REFUSED(NETLOC(NODE("01", "1"), EDGE("7", "02", "5", "01", "1")),
            "test:1: edge 7 leaves unknown node 02");
    REFUSED(NETLOC(NODE("01", "1"), EDGE("7", "01", "300", "01", "1")),
            "test:1: edge 7 lacks a port in 1 to 254");
    REFUSED("{\"node_info\":{},\"edge_info\":{\"7\":{}}}", "test:1: edge 7 lacks a node");
}

/* ---- writers for others ---- */

static void slurm_gets_a_tree(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "kary:k=2,n=3,hosts=2");
    char *text = written(f, SV_FORMAT_SLURM);
    assert_string_equal(strchr(text, '\n') + 1, "SwitchName=leaf0 Nodes=host[0-1]\n"
                                                "SwitchName=leaf1 Nodes=host[2-3]\n"
                                                "SwitchName=leaf2 Nodes=host[4-5]\n"
                                                "SwitchName=leaf3 Nodes=host[6-7]\n"
                                                "SwitchName=l1-0 Switches=leaf[0-1]\n"
                                                "SwitchName=l1-2 Switches=leaf[2-3]\n"
                                                "SwitchName=l2-0 Switches=l1-[0,2]\n");
    free(text);
    sv_fabric_free(f);
    f = test_fabric(ctx, "mesh:2x2");
    text = written(f, SV_FORMAT_SLURM);
    assert_non_null(strstr(text, "SwitchName=fabric Switches=sw0-[0-1],sw1-[0-1]\n"));
    free(text);
    sv_fabric_free(f);
}

static void slurm_names_are_harmless(void **state)
{
    (void)state;
    sv_fabric *f = test_read(
        ctx, "Switch 8 \"A\" # \"MF0;leaf:QM/U1\"\n[1] \"x\"[1]\n[2] \"y\"[1]\n[3] \"z\"[1]\n\n"
             "Switch 8 \"B\" # \"MF0;leaf:QM/U1\"\n[1] \"x\"[2]\n[2] \"w\"[1]\n\n"
             "Hca 2 \"x\" # \"n007 mlx5_0\"\n[1] \"A\"[1]\n[2] \"B\"[1]\n\n"
             "Hca 1 \"y\" # \"n008 mlx5_0\"\n[1] \"A\"[2]\n\n"
             "Hca 1 \"z\" # \"n010 mlx5_0\"\n[1] \"A\"[3]\n\n"
             "Hca 1 \"w\" # \"MT25408 ConnectX Mellanox Technologies\"\n[1] \"B\"[2]\n");
    warnings[0] = 0;
    char *text = written(f, SV_FORMAT_SLURM);
    assert_string_equal(strchr(text, '\n') + 1, "SwitchName=MF0_leaf_QM_U1 Nodes=n[007-008,010]\n"
                                                "SwitchName=MF0_leaf_QM_U1-2 Nodes=0x100008\n");
    assert_non_null(strstr(warnings, "1 host(s) have ports on several leaf switches"));
    free(text);
    sv_fabric_free(f);
}

/* Numbers without and with zeros in front, and names that are nothing but a number. */
static void slurm_ranges_are_what_they_say(void **state)
{
    (void)state;
    static const char *const names[] = {"n9", "n010", "n8", "7", "8"};
    char net[1000] = "Switch 8 \"A\" # \"leaf\"\n";
    for (int i = 0; i < 5; i++)
        snprintf(net + strlen(net), sizeof net - strlen(net), "[%d] \"%d\"[1]\n", i + 1, i);
    for (int i = 0; i < 5; i++)
        snprintf(net + strlen(net), sizeof net - strlen(net),
                 "\nHca 1 \"%d\" # \"%s\"\n[1] \"A\"[%d]\n", i, names[i], i + 1);
    sv_fabric *f = test_read(ctx, net);
    char *text = written(f, SV_FORMAT_SLURM);
    assert_string_equal(strchr(text, '\n') + 1, "SwitchName=leaf Nodes=7,8,n[8-9,010]\n");
    free(text);
    sv_fabric_free(f);
}

/* Switches of a level that are cabled to each other join what is below them; what does not compute
 * is not listed. */
static void slurm_joins_neighbours_of_a_level(void **state)
{
    (void)state;
    sv_fabric *f = test_read(
        ctx, "Switch 8 \"A\" # \"leaf0\"\n[1] \"S\"[1]\n[2] \"x\"[1]\n[3] \"z\"[1]\n\n"
             "Switch 8 \"B\" # \"leaf1\"\n[1] \"T\"[1]\n[2] \"y\"[1]\n\n"
             "Switch 8 \"S\" # \"top0\"\n[1] \"A\"[1]\n[2] \"T\"[2]\n\n"
             "Switch 8 \"T\" # \"top1\"\n[1] \"B\"[1]\n[2] \"S\"[2]\n\n"
             "Hca 1 \"x\" # \"n0\"\n[1] \"A\"[2]\n\nHca 1 \"y\" # \"n1\"\n[1] \"B\"[2]\n\n"
             "Hca 1 \"z\" # \"gateway Aggregation Node\"\n[1] \"A\"[3]\n");
    char *text = written(f, SV_FORMAT_SLURM);
    assert_string_equal(strchr(text, '\n') + 1, "SwitchName=leaf0 Nodes=n0\n"
                                                "SwitchName=leaf1 Nodes=n1\n"
                                                "SwitchName=top0 Switches=leaf[0-1]\n");
    free(text);
    sv_fabric_free(f);
}

/* A leaf with a loopback plug and two cables to its root: what GraphViz gets, line by line. */
static void dot_shows_cables_once(void **state)
{
    (void)state;
    sv_fabric *f = test_read(
        ctx, "Switch 8 \"A\"\n[1] \"x\"[1]\n[2] \"R\"[1]\n[3] \"R\"[2]\n[4] \"A\"[5]\n"
             "[5] \"A\"[4]\n\nSwitch 8 \"R\"\n[1] \"A\"[2]\n[2] \"A\"[3]\n[3] \"Q\"[1]\n\n"
             "Switch 8 \"Q\"\n[1] \"R\"[3]\n\nHca 1 \"x\"\n[1] \"A\"[1]\n");
    sv_fabric *left = NULL;
    sv_mask *mask = sv_mask_new(ctx, f);
    sv_mask_node(mask, (sv_node){2});
    OK(ctx, sv_fabric_mask(ctx, f, mask, &left));
    char *text = written(left, SV_FORMAT_DOT);
    assert_string_equal(text, "// 2 switches, 1 terminals; draw with: dot -Tsvg\n"
                              "graph fabric {\n  node [shape=box fontsize=10]\n  overlap=false\n"
                              "  splines=true\n"
                              "  s0 [label=\"A\"]\n  s1 [label=\"R\"]\n"
                              "  { rank=same; s0; }\n  { rank=same; s1; }\n"
                              "  s1 -- s0 [label=\"2\"]\n  s0 -- s0\n"
                              "  t0 [shape=point xlabel=\"x\"]\n  s0 -- t0\n}\n");
    free(text);
    sv_mask_free(mask);
    sv_fabric_free(left);
    sv_fabric_free(f);
}

/* A switch has failed with its terminal: neither is in any list. */
static void what_failed_is_in_no_list(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "mesh:3,r=2"), *left = NULL;
    sv_mask *mask = sv_mask_new(ctx, f);
    sv_mask_node(mask, (sv_node){0});
    OK(ctx, sv_fabric_mask(ctx, f, mask, &left));
    char *text = written(left, SV_FORMAT_CN_GUIDS);
    assert_string_equal(text, "0x02005e1b00000021\n0x02005e1b00000031\n");
    free(text);
    text = written(left, SV_FORMAT_JSON);
    assert_null(strstr(text, "host0"));
    assert_null(strstr(text, "0x02005e1b00000011"));
    assert_non_null(strstr(text, "{\"a\": 1, \"a_port\": 4, \"b\": 2, \"b_port\": 2,"));
    free(text);
    sv_mask_free(mask);
    sv_fabric_free(left);
    sv_fabric_free(f);
}

static void guid_files(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "kary:k=2,n=2"), *g = NULL;
    char *roots = written(f, SV_FORMAT_ROOT_GUIDS), *compute = written(f, SV_FORMAT_CN_GUIDS);
    assert_string_equal(roots, "0x02005e1a00000003\n0x02005e1a00000004\n");
    assert_string_equal(compute, "0x02005e1b00000011\n0x02005e1b00000021\n");
    const char *list = "# nodes\n0x02005e1b00000021 # second\n\n 02005e1b00000099\n";
    sv_memory memory = {list, strlen(list)};
    sv_source source = sv_memory_source(&memory, "list");
    sv_role roles[2] = {SV_ROLE_COMPUTE, SV_ROLE_COMPUTE};
    uint32_t unknown = 0;
    OK(ctx, sv_roles_read(ctx, f, &source, SV_ROLE_IO, roles, &unknown));
    assert_int_equal(unknown, 1);
    OK(ctx, sv_fabric_with_roles(ctx, f, roles, &g));
    char *io = written(g, SV_FORMAT_IO_GUIDS);
    assert_string_equal(io, "0x02005e1b00000021\n");
    /* An order of hosts: each once, those that are not there counted. */
    const char *order = "0x02005e1b00000021\n0x02005e1b00000011\n0x02005e1b00000021\n0x7\n";
    memory = (sv_memory){order, strlen(order)};
    sv_node hosts[2];
    size_t count = 0;
    OK(ctx, sv_hosts_read(ctx, f, &source, hosts, &count, &unknown));
    assert_int_equal(count, 2);
    assert_int_equal(unknown, 1);
    assert_int_equal(hosts[0].i, f->num_switches + 1);
    assert_int_equal(hosts[1].i, f->num_switches);
    memory = (sv_memory){"0x5\nhello\n", 10};
    FAILS(ctx, sv_roles_read(ctx, f, &source, SV_ROLE_IO, roles, NULL), SV_BAD_INPUT,
          "list:2: 'hello' is not a GUID");
    memory = (sv_memory){"0x5 6\n", 6};
    FAILS(ctx, sv_roles_read(ctx, f, &source, SV_ROLE_IO, roles, NULL), SV_BAD_INPUT,
          "list:1: '0x5 6' is not a GUID");
    free(roots);
    free(compute);
    free(io);
    sv_fabric_free(g);
    sv_fabric_free(f);
    /* Where all switches have terminals the root is a centre. */
    f = test_fabric(ctx, "mesh:5");
    roots = written(f, SV_FORMAT_ROOT_GUIDS);
    assert_string_equal(roots, "0x02005e1a00000003\n");
    free(roots);
    sv_fabric_free(f);
    f = test_fabric(ctx, "mesh:4"); /* two centres: the first */
    roots = written(f, SV_FORMAT_ROOT_GUIDS);
    assert_string_equal(roots, "0x02005e1a00000002\n");
    free(roots);
    sv_fabric_free(f);
}

static void formats_have_names(void **state)
{
    (void)state;
    assert_int_equal(sv_format_named("dot"), SV_FORMAT_DOT);
    assert_int_equal(sv_format_named("nonsense"), SV_FORMAT_COUNT);
    assert_int_equal(sv_format_of_path("a.b/x.json"), SV_FORMAT_JSON);
    assert_int_equal(sv_format_of_path("a.json/x"), SV_FORMAT_AUTO);
    assert_int_equal(sv_format_of_path("topology.conf"), SV_FORMAT_SLURM);
    assert_null(sv_format_about(SV_FORMAT_AUTO));
    assert_null(sv_format_about(SV_FORMAT_COUNT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips),
        cmocka_unit_test(what_failed_is_not_written),
        cmocka_unit_test(too_many_ports_for_infiniband),
        cmocka_unit_test(everything_in_a_file_is_kept),
        cmocka_unit_test(hand_written_files_need_little),
        cmocka_unit_test(one_sided_cables_are_kept_and_marked),
        cmocka_unit_test(a_terminal_capture_is_read),
        cmocka_unit_test(a_shell_capture_is_read),
        cmocka_unit_test(full_and_grouped_output_is_read),
        cmocka_unit_test(a_speed_that_one_end_knows_is_kept),
        cmocka_unit_test(ends_with_different_speeds_are_warned_of),
        cmocka_unit_test(lids_have_a_limit),
        cmocka_unit_test(a_system_guid_is_used_once),
        cmocka_unit_test(what_has_no_cable_is_kept),
        cmocka_unit_test(what_a_format_cannot_hold),
        cmocka_unit_test(levels_of_real_trees),
        cmocka_unit_test(wrong_ibnetdiscover_files_have_a_place),
        cmocka_unit_test(subnet_lists_are_read),
        cmocka_unit_test(short_subnet_lists_are_read),
        cmocka_unit_test(subnet_lists_keep_port_guids),
        cmocka_unit_test(cray_dumps_are_read),
        cmocka_unit_test(netloc_files_are_read),
        cmocka_unit_test(slurm_gets_a_tree),
        cmocka_unit_test(slurm_names_are_harmless),
        cmocka_unit_test(slurm_ranges_are_what_they_say),
        cmocka_unit_test(slurm_joins_neighbours_of_a_level),
        cmocka_unit_test(dot_shows_cables_once),
        cmocka_unit_test(what_failed_is_in_no_list),
        cmocka_unit_test(guid_files),
        cmocka_unit_test(formats_have_names),
    };
    return cmocka_run_group_tests(tests, make_ctx, free_ctx);
}
