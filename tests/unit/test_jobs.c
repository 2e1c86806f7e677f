/*
 * test_jobs.c: what batch systems say of jobs: each format with what it must refuse.
 */
#include "support/testing.h"

#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

TEST_CONTEXT

/* ---- the formats ---- */

static sv_status read_as(const char *text, sv_jobs_format format, sv_allocations **jobs)
{
    sv_memory memory = {text, strlen(text)};
    sv_source source = sv_memory_source(&memory, "jobs");
    return sv_allocations_read(ctx, &source, format, jobs);
}

/* "JOB begin-end: host host; …" and how many were left out. */
static char *told(const sv_allocations *jobs)
{
    static char text[4096];
    size_t used = 0;
    for (uint32_t i = 0; i < jobs->count; i++) {
        const sv_allocation *one = &jobs->list[i];
        used += (size_t)snprintf(text + used, sizeof text - used, "%s", one->job);
        if (one->begin != SV_TIME_UNKNOWN)
            used +=
                (size_t)snprintf(text + used, sizeof text - used, " %lld", (long long)one->begin);
        if (one->end != SV_TIME_OPEN)
            used += (size_t)snprintf(text + used, sizeof text - used, "-%lld", (long long)one->end);
        used += (size_t)snprintf(text + used, sizeof text - used, ":");
        for (uint32_t h = 0; h < one->num_hosts; h++) {
            assert_true(h == 0 || one->hosts[h - 1] < one->hosts[h]);
            used += (size_t)snprintf(text + used, sizeof text - used, " %s",
                                     jobs->hosts[one->hosts[h]]);
        }
        used += (size_t)snprintf(text + used, sizeof text - used, "; ");
        assert_true(one->num_hosts > 0 && used < sizeof text);
    }
    snprintf(text + used, sizeof text - used, "left %u", jobs->left_out);
    return text;
}

#define TELLS(text, format, wanted)                                                                \
    do {                                                                                           \
        sv_allocations *jobs_ = NULL;                                                              \
        OK(ctx, read_as((text), (format), &jobs_));                                                \
        assert_string_equal(told(jobs_), (wanted));                                                \
        sv_allocations_free(jobs_);                                                                \
    } while (0)

#define REFUSES(text, format, status, words)                                                       \
    do {                                                                                           \
        sv_allocations *jobs_ = NULL;                                                              \
        FAILS(ctx, read_as((text), (format), &jobs_), (status), (words));                          \
        assert_null(jobs_);                                                                        \
    } while (0)

#define TITLES                                                                                     \
    "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n"

static void squeue_with_titles(void **state)
{
    (void)state;
    /* as the real one prints it (22.05) */
    const char *plain = TITLES
        "               3+0     batch     wrap     root PD       0:00      1 (None)\n"
        "                 5     batch pend|ing     root PD       0:00      9 (Nodes required "
        "for job are DOWN, DRAINED or R (x))\n"
        "                 1     batch my job R     root  R       0:04      3 rk1n[01-03]\n"
        "               2_1     batch     wrap     root  R       0:04      2 rk1n[04-05]\n"
        "               2_2     batch     wrap     root  S       0:04      2 rk1n[06-07]\n"
        "               4+1     batch     wrap     root  R       0:04      1 rk2n02\n"
        "               4+0     batch     wrap     root  R       0:04      1 rk2n01\n"
        "                 9     batch     wrap     root CG       0:04      1 rk2n08\n";
    const char *wanted = "1: rk1n01 rk1n02 rk1n03; 2_1: rk1n04 rk1n05; 4: rk2n02 rk2n01; left 4";
    TELLS(plain, SV_JOBS_AUTO, wanted);
    TELLS(plain, SV_JOBS_SQUEUE, wanted);
    TELLS("Mon Nov 16 04:31:27 2026\n"
          "             JOBID PARTITION     NAME     USER    STATE       TIME TIME_LIMI  NODES "
          "NODELIST(REASON)\n"
          "                 5     batch pend|ing     root  PENDING       0:00 UNLIMITED      9 "
          "(Priority)\n"
          "                 1     batch my job R     root  RUNNING       0:04 UNLIMITED      3 "
          "rk1n[01-03]\r\n"
          "               2_2     batch     wrap     root SUSPENDE       0:04 UNLIMITED      2 "
          "rk1n[06-07]\n",
          SV_JOBS_AUTO, "1: rk1n01 rk1n02 rk1n03; left 2");
    /* columns of -O, the name last */
    TELLS(
        "JOBID               ST                  NODES               NODELIST(REASON)    NAME\n"
        "5                   PD                  9                   (Priority)          a (x)\n"
        "1                   R                   3                   n[01-03]            my job\n",
        SV_JOBS_AUTO, "1: n01 n02 n03; left 1");
    /* nodes before the state: nothing where they should be */
    TELLS("JOBID NODELIST STATE\n5  PENDING\n1 n[1-2] RUNNING\n", SV_JOBS_AUTO, "1: n1 n2; left 1");
    TELLS("JOBID STATE NODELIST\n5 PENDING \n1 RUNNING n1\n", SV_JOBS_AUTO, "1: n1; left 1");
    TELLS("NAME|JOBID|NODES|ST|NODELIST(REASON)|COMMENT\n"
          "pend|ing (x)|5|9|PD|(Priority)|(null)\nx|1|3|R|n[1-3]|(null)\n",
          SV_JOBS_AUTO, "1: n1 n2 n3; left 1");
    TELLS("JOBID NODELIST\n1 n1\n2\n", SV_JOBS_AUTO, "1: n1; left 1");
    TELLS(TITLES " 1 batch  bob R 0:04 3 n[1-3]\n", SV_JOBS_AUTO,
          "1: n1 n2 n3; left 0"); /* no name */
    TELLS("JOBID NAME STATE NODELIST\n7 my job PENDING\n8 my own job PENDING\n9 my own job R n1\n",
          SV_JOBS_AUTO, "9: n1; left 2");
    TELLS("JOBID NAME STATE NODELIST\n1 R PENDING\n2 RUNNING n1\n3 wrap RUNNING n1\n", SV_JOBS_AUTO,
          "2: n1; 3: n1; left 1");
    TELLS("JOBID|STATE|NODELIST\n", SV_JOBS_AUTO, "left 0");
    TELLS("", SV_JOBS_AUTO, "left 0");
    TELLS(" \n\n", SV_JOBS_SQUEUE, "left 0");
}

static void squeue_without_titles(void **state)
{
    (void)state;
    const char *wanted = "1: n1 n2; 2_7: n3; left 2";
    TELLS("3|PENDING|\n1|RUNNING|n[1-2]\n2_7|R|n3\n2_[8-9%1]|PD|\n", SV_JOBS_AUTO, wanted);
    TELLS("3 PENDING \n1 RUNNING n[1-2]\n2_7 R n3\n2_[8-9%1] PD\n", SV_JOBS_AUTO, wanted);
    TELLS("7|RUNNING|a\n8|RUNNING|a,b\n7|RUNNING|b,a\n", SV_JOBS_AUTO, "7: a b; 8: a b; left 0");
    TELLS("1|RESIZING|a\n2|SIGNALING|b\n3|STOPPED|c\n4|CONFIGURING|d\n5|COMPLETING|e\n",
          SV_JOBS_AUTO, "1: a; 2: b; left 3");
    REFUSES("1|RUNNING|n[1-2]\n\n2|WALKING|n3\n", SV_JOBS_AUTO, SV_BAD_INPUT,
            "jobs:3: 'WALKING' is not a state of a job; squeue -o \"%i|%T|%N\" is understood");
    assert_null(strstr(sv_ctx_message(ctx), "cut"));
    REFUSES("1|RUNNING|n[1-2\n", SV_JOBS_AUTO, SV_BAD_INPUT,
            "jobs:1: nodes 'n[1-2': a bracket is not closed: it looks cut off; squeue -o "
            "\"%i|%T|%N\" cuts nothing off");
    REFUSES("1|RUNNING|n1|more\n", SV_JOBS_AUTO, SV_BAD_INPUT, "jobs:1: 4 columns");
    REFUSES("1|RUNNING|n1\nx|RUNNING|n1\n", SV_JOBS_AUTO, SV_BAD_INPUT,
            "jobs:2: 'x' is not the number");
    REFUSES("slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n",
            SV_JOBS_SQUEUE, SV_BAD_INPUT, "jobs:1:");
    REFUSES("slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n",
            SV_JOBS_AUTO, SV_BAD_INPUT, "jobs:1:");
}

/* One may have given all of its nodes up; if all have, it is the wrong column. */
static void jobs_that_run_without_nodes(void **state)
{
    (void)state;
    TELLS("1|RUNNING|\n2|RUNNING|n1\n", SV_JOBS_AUTO, "2: n1; left 1");
    TELLS("JOBID|STATE|NODELIST\n1|RUNNING|(null)\n2|RUNNING|n1\n", SV_JOBS_AUTO, "2: n1; left 1");
    REFUSES("1|RUNNING|\n2|R|\n3|PENDING|\n", SV_JOBS_AUTO, SV_BAD_INPUT,
            "jobs:1: 2 jobs run, and nodes are told of none");
    REFUSES("JOBID|STATE|NODELIST\n1|RUNNING|\n", SV_JOBS_AUTO, SV_BAD_INPUT,
            "jobs:2: 1 job runs, and nodes are told of none");
}

/* Whether there was anything at all. */
static void a_file_without_a_word_is_told_apart(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool blank;
    } cases[] = {{"", true},
                 {" \n\r\n\t", true},
                 {"\xef\xbb\xbf", true},
                 {"JOBID|STATE|NODELIST\n", false},
                 {"# job map: NODE JOB\n", false},
                 {"1|PENDING|\n", false},
                 {"; a log\n", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int format = SV_JOBS_AUTO; format <= SV_JOBS_SQUEUE && (format == 0 || i < 3);
             format++) {
            sv_allocations *jobs = NULL;
            OK(ctx, read_as(cases[i].text, format, &jobs));
            assert_int_equal(jobs->blank, cases[i].blank);
            sv_allocations_free(jobs);
        }
    TELLS("\xef\xbb\xbf"
          "1|R|n1\n",
          SV_JOBS_AUTO, "1: n1; left 0");
    TELLS("\xef\xbb\xbfn2 17\n", SV_JOBS_MAP, "17: n2; left 0");
}

static void squeue_that_cut_something_off(void **state)
{
    (void)state;
    REFUSES(TITLES "  1 batch wrap root R 0:04 3 rk1n[01-0\n", SV_JOBS_AUTO, SV_BAD_INPUT,
            "jobs:2: nodes 'rk1n[01-0': range '01-0' descends: it looks cut off");
    REFUSES(TITLES "  1 batch wrap root R 0:04 3 rk1n[01-\n", SV_JOBS_AUTO, SV_BAD_INPUT,
            "it looks cut off");
    REFUSES(TITLES "  1 batch wrap root R 0:04 3 node1,node2,\n", SV_JOBS_AUTO, SV_BAD_INPUT,
            "empty name in a list of hosts: it looks cut off");
    /* nothing is wrong with the list itself, but the column says how many there are */
    REFUSES(TITLES "  1 batch wrap root R 0:04 3 node1,node2,no\n  2 batch wrap root R 0:04 4 "
                   "node1,node2\n",
            SV_JOBS_AUTO, SV_BAD_INPUT, "jobs:3: nodes 'node1,node2' are 2, and the job has 4");
    REFUSES("JOBID STATE NODES NODELIST\n1 RUNNING 2K n[1-1024]\n", SV_JOBS_AUTO, SV_BAD_INPUT,
            "are 1024, and the job has 2048");
    REFUSES("JOBID NAME STATE NODELIST\n1 my R PENDING\n", SV_JOBS_AUTO, SV_BAD_INPUT,
            "jobs:2: 4 columns under 4 titles");
    REFUSES("JOBID NAME NODELIST\n1 my job\n", SV_JOBS_AUTO, SV_BAD_INPUT,
            "jobs:1: there is no column ST or STATE");
    REFUSES("JOBID|NAME|NODELIST\n", SV_JOBS_AUTO, SV_BAD_INPUT, "there is no column ST or STATE");
    REFUSES("JOBID STATE USER\n1 RUNNING bob\n", SV_JOBS_AUTO, SV_BAD_INPUT,
            "jobs:1: there is no column NODELIST");
    REFUSES("NAME JOBID STATE COMMENT NODELIST\nmy job 1 RUNNING what n1\n", SV_JOBS_AUTO,
            SV_BAD_INPUT, "jobs:2: 6 columns under 5 titles");
    REFUSES("JOBID NODELIST STATE USER\n1 RUNNING bob\n", SV_JOBS_AUTO, SV_BAD_INPUT,
            "jobs:2: 3 columns under 4 titles");
    REFUSES("JOBID STATE NODELIST\n1 RUNN n1\n", SV_JOBS_AUTO, SV_BAD_INPUT,
            "jobs:2: 'RUNN' is not a state");
    /* not every line that ends with a parenthesis is a job that waits */
    REFUSES(TITLES "slurm_load_jobs error: Socket timed out (foo)\n", SV_JOBS_AUTO, SV_BAD_INPUT,
            "jobs:2: 6 columns under 8 titles");
    REFUSES("JOBID|ST|NODELIST(REASON)\nslurm_load_jobs error (foo)\n", SV_JOBS_AUTO, SV_BAD_INPUT,
            "jobs:2: 1 column under 3 titles; squeue -o");
    REFUSES("NAME JOBID ST NODELIST(REASON)\nslurm_load_jobs error: timed out (foo)\n",
            SV_JOBS_AUTO, SV_BAD_INPUT, "jobs:2: ");
    TELLS("NAME JOBID ST NODELIST(REASON)\nmy own job 12 PD (Priority or so)\n", SV_JOBS_AUTO,
          "left 1");
    TELLS("JOBID STATE NODELIST\n1 RUNNI n1\n2 SUSPE n2\n3 COMPL n1\n", SV_JOBS_AUTO,
          "1: n1; left 2");
}

static void sacct_histories(void **state)
{
    (void)state;
    const char *text = "JobID|State|JobName|Start|End|NodeList\n"
                       "12|COMPLETED|a|2026-11-15T12:00:00|2026-11-15T13:00:00|n[1-2]\n"
                       "12.batch|COMPLETED|batch|2026-11-15T12:00:00|2026-11-15T13:00:00|n1\n"
                       "12.0|COMPLETED|x|2026-11-15T12:00:00|2026-11-15T13:00:00|n[1-2]\n"
                       "13|CANCELLED by 1000|b|Unknown|2026-11-15T12:30:00|None assigned\n"
                       "14|RUNNING|c|2026-11-15T11:00:00|Unknown|n3\n"
                       "15_2|TIMEOUT|d|2026-11-15T11:00:00|2026-11-15T11:00:00|n4\n"
                       "16+1|RUNNING|e|2026-11-15T12:00:00|Unknown|n5\n"
                       "16+0|RUNNING|e|2026-11-15T12:00:00|Unknown|n4\n"
                       "17|PENDING|f|2026-11-16T12:00:00|Unknown|n7\n"
                       "12|NODE_FAIL|a|2026-11-14T00:00:00|2026-11-14T00:00:01|n9\n";
    const char *wanted =
        "12 1794614400-1794614401: n9; 14 1794740400: n3; 12 1794744000-1794747600: "
        "n1 n2; 16 1794744000: n5 n4; left 3";
    TELLS(text, SV_JOBS_AUTO, wanted);
    TELLS("End|NodeList|JobIDRaw|Start|\n200|n1|7|100|\nUnknown|n2|8|150|\n", SV_JOBS_AUTO,
          "7 100-200: n1; 8 150: n2; left 0");
    sv_allocations *jobs = NULL;
    OK(ctx, read_as(text, SV_JOBS_SACCT, &jobs));
    assert_int_equal(jobs->begin, 1794614400);
    assert_int_equal(jobs->end, 1794747600);
    assert_int_equal(jobs->num_hosts, 6);
    assert_string_equal(jobs->hosts[2], "n3");
    assert_int_equal(jobs->lines[2], 6);
    int64_t at = 0;
    OK(ctx, sv_allocations_moment(ctx, jobs, "+36h", &at));
    assert_int_equal(at, 1794614400 + 36 * 3600);
    OK(ctx, sv_allocations_moment(ctx, jobs, "2026-11-15T12:00:00", &at));
    assert_int_equal(at, 1794744000);
    OK(ctx, sv_allocations_moment(ctx, jobs, "2026-11-15T13:00:00+01:00", &at));
    assert_int_equal(at, 1794744000);
    OK(ctx, sv_allocations_moment(ctx, jobs, "1794744001", &at));
    assert_int_equal(at, 1794744001);
    OK(ctx, sv_allocations_moment(ctx, jobs, "+10m", &at)); /* as of --every */
    assert_int_equal(at, 1794614400 + 600);
    OK(ctx, sv_allocations_moment(ctx, jobs, "+1.5min", &at));
    assert_int_equal(at, 1794614400 + 90);
    OK(ctx, sv_allocations_moment(ctx, jobs, "253402300799", &at)); /* 9999-12-31T23:59:59 */
    FAILS(ctx, sv_allocations_moment(ctx, jobs, "253402300800", &at), SV_BAD_INPUT, "neither");
    FAILS(ctx, sv_allocations_moment(ctx, jobs, "+10ms", &at), SV_BAD_INPUT, "neither");
    FAILS(ctx, sv_allocations_moment(ctx, jobs, "+10", &at), SV_BAD_INPUT, "neither");
    FAILS(ctx, sv_allocations_moment(ctx, jobs, "+m", &at), SV_BAD_INPUT, "neither");
    FAILS(ctx, sv_allocations_moment(ctx, jobs, "36h", &at), SV_BAD_INPUT, "'36h' is neither");
    FAILS(ctx, sv_allocations_moment(ctx, jobs, "+2026-11-15", &at), SV_BAD_INPUT, "neither");
    FAILS(ctx, sv_allocations_moment(ctx, jobs, "noon", &at), SV_BAD_INPUT, "neither");
    sv_allocations_free(jobs);
    REFUSES("JobID|Start|NodeList\n", SV_JOBS_SACCT, SV_BAD_INPUT, "jobs:1: titles of sacct");
    REFUSES("JobID|Start|End|NodeList\n1|100|200|n[1\n", SV_JOBS_AUTO, SV_BAD_INPUT,
            "jobs:2: nodes 'n[1': a bracket is not closed");
    REFUSES("JobID|Start|End|NodeList\n1|100|200\n", SV_JOBS_AUTO, SV_BAD_INPUT,
            "jobs:2: 3 fields under 4");
    REFUSES("JobID|Start|End|NodeList\n1|soon|200|n1\n", SV_JOBS_AUTO, SV_BAD_INPUT,
            "jobs:2: 'soon' is not a time");
    REFUSES("JobID|Start|End|NodeList\n|1|200|n1\n", SV_JOBS_AUTO, SV_BAD_INPUT,
            "jobs:2: '' is not the number");
}

#define NUMBERS " 1 -1 -1 4 -1 -1 1 1 1 1 -1 1 -1 -1 "

static void workload_logs(void **state)
{
    (void)state;
    TELLS("0 1000 10 50" NUMBERS "{7,7,7,12,7} q_2w 1:ppn=12\n"
          "1 900 0 -1" NUMBERS "{7} q\n"
          "2 900 -1 5" NUMBERS "{7} q\n"
          "3 900 0 0" NUMBERS "{7} q\n"
          "4 900 5 3.7" NUMBERS "{8}\n"
          "5 900 5 3\t" NUMBERS "{}\n"
          "6 900 5 3" NUMBERS "\n"
          "7 900 5 -1359980917" NUMBERS "{3}\n",
          SV_JOBS_AUTO, "4 905-908: 8; 0 1010-1060: 7 12; left 6");
    /* offsets from the start that the header tells; unless they are none */
    TELLS("; Version: 2.2\n;\n; UnixStartTime: 1000000\n\n1 5 1 10" NUMBERS
          "{1}\n2 1000007 0 10" NUMBERS "{2}\n",
          SV_JOBS_AUTO, "1 1000006-1000016: 1; 2 1000007-1000017: 2; left 0");
    REFUSES(
        "1 5 1 10" NUMBERS "\n2 5 1 10" NUMBERS "\n", SV_JOBS_AUTO, SV_UNSUPPORTED,
        "jobs: no lists of nodes {1,2,…} behind the 18 fields: it does not tell where jobs ran");
    REFUSES("1 5 1 10 1\n", SV_JOBS_SWF, SV_BAD_INPUT, "jobs:1: 5 fields where there should be 18");
    REFUSES("1 5 1 x" NUMBERS "\n", SV_JOBS_SWF, SV_BAD_INPUT,
            "jobs:1: field 4, 'x', is not a number");
    REFUSES("; x\n1 5 1 10" NUMBERS "{1,}\n", SV_JOBS_AUTO, SV_BAD_INPUT,
            "jobs:2: '{1,}' is not a list");
    REFUSES("1 5 1 10" NUMBERS "{1,2\n", SV_JOBS_AUTO, SV_BAD_INPUT, "is not a list");
    REFUSES("1 5 1 10" NUMBERS "{n1}\n", SV_JOBS_AUTO, SV_BAD_INPUT, "is not a list");
    REFUSES("1 5 1 10" NUMBERS "{1}x\n", SV_JOBS_AUTO, SV_BAD_INPUT, "is not a list");
    REFUSES("1 5 1 999999999999999" NUMBERS "{1}\n", SV_JOBS_AUTO, SV_BAD_INPUT,
            "beyond all calendars");
    REFUSES("1 5 1 99999999999999999999" NUMBERS "{1}\n", SV_JOBS_AUTO, SV_BAD_INPUT,
            "jobs:1: field 4, '99999999999999999999', is too large");
    REFUSES("; UnixStartTime: now\n", SV_JOBS_AUTO, SV_BAD_INPUT, "jobs:1: UnixStartTime");
    TELLS("; only a header\n", SV_JOBS_AUTO, "left 0");
}

/* A line that is longer than any other reader takes. */
static void long_lines(void **state)
{
    (void)state;
    size_t room = 3 << 20, used;
    char *text = malloc(room + 100);
    assert_non_null(text);
    used = (size_t)sprintf(text, "0 1000 10 50" NUMBERS "{");
    for (unsigned i = 0; used < room; i++)
        used += (size_t)sprintf(text + used, "%u,", 100 + i / 16);
    sprintf(text + used - 1, "}\n1 1000 10 50" NUMBERS "{5}\n");
    sv_allocations *jobs = NULL;
    OK(ctx, read_as(text, SV_JOBS_AUTO, &jobs));
    assert_int_equal(jobs->count, 2);
    assert_true(jobs->list[0].num_hosts > 10000);
    assert_int_equal(jobs->list[1].num_hosts, 1);
    assert_int_equal(jobs->lines[jobs->list[1].hosts[0]], 2);
    sv_allocations_free(jobs);
    free(text);
}

static void skip_without_jansson(void)
{
    sv_allocations *jobs = NULL;
    if (read_as("{\"jobs\": []}", SV_JOBS_AUTO, &jobs) == SV_UNSUPPORTED) {
        assert_non_null(strstr(sv_ctx_message(ctx), "this build has no jansson"));
        skip();
    }
    sv_allocations_free(jobs);
}

static void json_of_many_versions(void **state)
{
    (void)state;
    skip_without_jansson();
    TELLS("{\"meta\": {}, \"errors\": [], \"jobs\": [" /* 22.05 */
          "{\"job_id\": 1, \"job_state\": \"RUNNING\", \"nodes\": \"n[1-2]\", \"start_time\": 100,"
          " \"array_job_id\": 0, \"array_task_id\": null, \"het_job_id\": 0},"
          "{\"job_id\": 7, \"job_state\": \"RUNNING\", \"nodes\": \"n3\", \"start_time\": 90,"
          " \"array_job_id\": 2, \"array_task_id\": 1, \"het_job_id\": 0},"
          "{\"job_id\": 4, \"job_state\": \"RUNNING\", \"nodes\": \"n5\", \"start_time\": 80, "
          "\"het_job_id\": 3},"
          "{\"job_id\": 3, \"job_state\": \"RUNNING\", \"nodes\": \"n4\", \"start_time\": 80, "
          "\"het_job_id\": 3},"
          "{\"job_id\": 8, \"job_state\": \"PENDING\", \"nodes\": \"\", \"start_time\": 0},"
          "{\"job_id\": 9, \"job_state\": \"COMPLETING\", \"nodes\": \"n1\", \"start_time\": 1}]}",
          SV_JOBS_AUTO, "3 80: n5 n4; 2_1 90: n3; 1 100: n1 n2; left 2");
    TELLS(
        "{\"jobs\": [" /* 24.05 */
        "{\"job_id\": 1, \"job_state\": [\"RUNNING\"], \"nodes\": \"\", \"job_resources\": "
        "{\"nodes\":"
        " {\"count\": 2, \"list\": \"n[1-2]\"}}, \"start_time\": {\"set\": true, \"infinite\": "
        "false,"
        " \"number\": 100}, \"array_job_id\": {\"set\": true, \"infinite\": false, \"number\": 0},"
        " \"array_task_id\": {\"set\": false, \"infinite\": false, \"number\": 0}},"
        "{\"job_id\": {\"set\": true, \"number\": 2}, \"job_state\": [\"RUNNING\", \"RESIZING\"],"
        " \"job_resources\": {\"nodes\": \"n3\"}, \"start_time\": {\"set\": false, \"number\": 0},"
        " \"array_job_id\": {\"set\": true, \"number\": 5}, \"array_task_id\": {\"set\": true, "
        "\"number\": 0}},"
        "{\"job_id\": 3, \"job_state\": [\"RUNNING\", \"CONFIGURING\"], \"nodes\": \"n4\"},"
        "{\"job_id\": 4, \"job_state\": [\"TIMEOUT\", \"COMPLETING\"], \"nodes\": \"n4\"},"
        "{\"job_id\": 5, \"job_state\": [\"RUNNING\", \"SOMETHING_NEW\"], \"nodes\": \"n5\"},"
        "{\"job_id\": 6, \"job_state\": [\"RUNNING\"], \"nodes\": \"\"},"
        "{\"job_id\": 7, \"job_state\": [\"SOMETHING_NEW\", \"PENDING\"], \"nodes\": 7}]}",
        SV_JOBS_AUTO, "5_0: n3; 5: n5; 1 100: n1 n2; left 4");
}

static void json_that_is_refused(void **state)
{
    (void)state;
    skip_without_jansson();
    REFUSES("{\"jobs\": [{\"job_id\": 1, \"job_state\": \"RUNNING\", \"nodes\": \"n[1\"}]}",
            SV_JOBS_AUTO, SV_BAD_INPUT, "jobs:1: jobs[0]: nodes 'n[1': a bracket is not closed");
    REFUSES("{\"jobs\": [{\"job_id\": 1, \"job_state\": \"RUNNING\", \"nodes\": \"a\\nb\"}]}",
            SV_JOBS_AUTO, SV_BAD_INPUT, "jobs:1: jobs[0]: nodes 'a");
    REFUSES("{\"jobs\": [{\"job_state\": \"RUNNING\"}]}", SV_JOBS_AUTO, SV_BAD_INPUT,
            "jobs[0]: no job_id");
    REFUSES("{\"jobs\": [{\"job_id\": 1}]}", SV_JOBS_AUTO, SV_BAD_INPUT, "jobs[0]: no job_state");
    REFUSES("{\"jobs\": [7]}", SV_JOBS_AUTO, SV_BAD_INPUT, "jobs[0]: not an object");
    /* a job that runs is never taken for one that does not */
    static const char *const wrong[][2] = {
        {"\"job_state\": [\"RUNNING\"], \"nodes\": [\"n1\", \"n2\"]",
         "it runs, and nodes is not a text"},
        {"\"job_state\": \"RUNNING\", \"nodes\": {\"list\": \"n1\"}",
         "it runs, and nodes is not a text"},
        {"\"job_state\": \"RUNNING\", \"nodes\": \"\", \"job_resources\": {\"nodes\": [\"n1\"]}",
         "it runs, and job_resources.nodes is not a text"},
        {"\"job_state\": \"RUNNING\"", "it runs, and there is no nodes"},
        {"\"job_state\": [], \"nodes\": \"n1\"", "job_state is not a state of a job"},
        {"\"job_state\": [\"WEIRD\"], \"nodes\": \"n1\"", "job_state is not a state of a job"},
        {"\"job_state\": \"WEIRD\", \"nodes\": \"n1\"", "job_state is not a state of a job"},
        {"\"job_state\": [\"RUNNING\", 7], \"nodes\": \"n1\"", "no job_state"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[300];
        snprintf(text, sizeof text, "{\"jobs\": [{\"job_id\": 1, %s}]}", wrong[i][0]);
        REFUSES(text, SV_JOBS_AUTO, SV_BAD_INPUT, wrong[i][1]);
    }
    REFUSES("{\"jobs\": [{\"job_id\": 1, \"job_state\": \"RUNNING\", \"nodes\": \"\"}]}",
            SV_JOBS_AUTO, SV_BAD_INPUT, "jobs:1: 1 job runs, and nodes are told of none");
    REFUSES("{\"nodes\": []}", SV_JOBS_AUTO, SV_BAD_INPUT, "jobs:1: no list of jobs");
    REFUSES("{\n\"jobs\": [\n}", SV_JOBS_AUTO, SV_BAD_INPUT, "jobs:3: ");
    REFUSES(
        "{\"errors\": [{\"error\": \"Unable to contact slurm controller\", \"error_number\": 1}], "
        "\"jobs\": []}",
        SV_JOBS_AUTO, SV_BAD_INPUT, "jobs:1: Slurm reports an error: Unable to contact");
}

static void job_maps_are_allocations_too(void **state)
{
    (void)state;
    TELLS("# a comment\nn2 17\n\"n 1\" \"job 18\" # more\nn1 17\nn2 17\n", SV_JOBS_AUTO,
          "17: n2 n1; job 18: n 1; left 0");
    TELLS("n2 17\n", SV_JOBS_AUTO, "17: n2; left 0");
    REFUSES("n2 17\nn3\n", SV_JOBS_AUTO, SV_BAD_INPUT, "jobs:2: node 'n3' has no job");
    sv_allocations *jobs = NULL;
    FAILS(ctx, sv_allocations_load(ctx, "/nowhere/jobs", SV_JOBS_AUTO, &jobs), SV_IO,
          "/nowhere/jobs");
    assert_string_equal(sv_jobs_format_name(SV_JOBS_AUTO), "auto");
    assert_string_equal(sv_jobs_format_name(SV_JOBS_MAP), "map");
    assert_null(sv_jobs_format_name(SV_JOBS_FORMATS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(squeue_with_titles),
        cmocka_unit_test(squeue_without_titles),
        cmocka_unit_test(jobs_that_run_without_nodes),
        cmocka_unit_test(a_file_without_a_word_is_told_apart),
        cmocka_unit_test(squeue_that_cut_something_off),
        cmocka_unit_test(sacct_histories),
        cmocka_unit_test(workload_logs),
        cmocka_unit_test(long_lines),
        cmocka_unit_test(json_of_many_versions),
        cmocka_unit_test(json_that_is_refused),
        cmocka_unit_test(job_maps_are_allocations_too),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
