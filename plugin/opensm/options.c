/*
 * options.c: event_plugin_options: words separated by blanks or commas, each name=value or a name.
 *
 * OpenSM hands the same text to all of its plugins. If one word begins with "selvage.", only words
 * that do are meant for us.
 *
 * Invariant: whatever is wrong is refused before anything is routed, with the word in question.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin.h"

enum { MAX_WORDS = 64 };

struct reader {
    plugin_options *o;
    char *message;
    size_t size;
};

static bool refuse(struct reader *r, const char *word, const char *why)
{
    snprintf(r->message, r->size, "event_plugin_options: \"%s\": %s", word, why);
    return false;
}

static bool is_number(const char *value, double max, double *number)
{
    char *end;
    if (value == NULL || *value < '0' || *value > '9' ||
        strspn(value, "0123456789.") != strlen(value))
        return false;
    *number = strtod(value, &end);
    return *end == 0 && *number <= max;
}

/* The place of a value in a list that ends with NULL, or -1. */
static int choose(const char *value, const char *const *names)
{
    for (int i = 0; value != NULL && names[i] != NULL; i++)
        if (strcmp(value, names[i]) == 0)
            return i;
    return -1;
}

static bool read_number(struct reader *r, const char *word, const char *name, const char *value)
{
    static const struct {
        const char *name;
        double min, max;
        const char *help;
    } rules[] = {{"vls", 1, 15, "VLs are 1 to 15"},
                 {"sl-offset", 0, 15, "the offset of SLs is 0 to 15"},
                 {"seed", 0, 1e15, "a seed is a whole number"},
                 {"threads", 0, 256, "threads are 0 (all cores) to 256"},
                 {"drift", 0, 10000, "drift is a percentage; 0 is any"},
                 {"tries", 1, 100, "tries are 1 to 100"},
                 {"budget", 0, 86400, "the budget is seconds, at most 86400; 0 is none"},
                 {"retry", 0.01, 3600, "retry is seconds, 0.01 to 3600"},
                 {"lease", 0, 86400, "a lease is seconds, at most 86400; 0 is for ever"},
                 {"patience", 0, 86400, "patience is seconds, at most 86400; 0 is any"},
                 {"settle", 0, 3600, "settle is seconds, at most 3600"},
                 {"heartbeat", 0, 3600, "heartbeat is seconds, at most 3600; 0 is none"}};
    sv_route_request *route = &r->o->live.route;
    double number;
    size_t i = 0;
    while (strcmp(rules[i].name, name) != 0)
        i++;
    if (!is_number(value, rules[i].max, &number) || number < rules[i].min ||
        (i < 6 && number != (double)(uint64_t)number))
        return refuse(r, word, rules[i].help);
    switch (i) {
    case 0:
        route->vls = (unsigned)number;
        break;
    case 1:
        route->sl_offset = (unsigned)number;
        break;
    case 2:
        route->seed = (uint64_t)number;
        break;
    case 3:
        r->o->threads = (unsigned)number;
        break;
    case 4:
        r->o->live.drift_percent = (unsigned)number;
        break;
    case 5:
        r->o->five.tries = (uint32_t)number;
        break;
    case 6:
        r->o->live.budget_ns = (uint64_t)(number * 1e9);
        break;
    case 7:
        r->o->five.retry = (uint64_t)(number * 1e3);
        break;
    case 8:
        r->o->five.lease = (uint64_t)(number * 1e3);
        break;
    case 9:
        r->o->five.patience = (uint64_t)(number * 1e3);
        break;
    case 10:
        r->o->settle_ms = (unsigned)(number * 1e3);
        break;
    default:
        r->o->heartbeat_s = (unsigned)number;
    }
    return true;
}

static bool read_choice(struct reader *r, const char *word, const char *name, const char *value)
{
    static const char *const modes[] = {"pair", "reversible", "destination", "one", NULL};
    static const char *const kinds[] = {"terminals", "managed", "all", NULL};
    static const char *const switches[] = {"off", "on", NULL};
    static const char *const passages[] = {"any", "careful", NULL};
    static const char *const arbitrations[] = {"even", "keep", NULL};
    static const char *const updates[] = {"at-once", "five", "steps", NULL};
    int i;
    if (strcmp(name, "sl") == 0) {
        if ((i = choose(value, modes)) < 0)
            return refuse(r, word, "sl is pair, reversible, destination or one");
        r->o->live.route.sl_mode = (sv_sl_mode)i;
    } else if (strcmp(name, "traffic") == 0) {
        if ((i = choose(value, kinds)) < 0)
            return refuse(r, word, "traffic is terminals, managed or all");
        r->o->live.traffic = (sv_traffic)i;
    } else if (strcmp(name, "repair") == 0) {
        if ((i = choose(value, switches)) < 0)
            return refuse(r, word, "repair is on or off");
        r->o->live.no_repair = i == 0;
    } else if (strcmp(name, "passage") == 0) {
        if ((i = choose(value, passages)) < 0)
            return refuse(r, word, "passage is any or careful");
        r->o->live.careful = i == 1;
    } else if (strcmp(name, "update") == 0) {
        if ((i = choose(value, updates)) < 0)
            return refuse(r, word, "update is at-once, steps or five");
        r->o->live.update = (sv_live_update)i;
    } else {
        if ((i = choose(value, arbitrations)) < 0)
            return refuse(r, word, "vlarb is even or keep");
        r->o->keep_vlarb = i == 1;
    }
    return true;
}

static bool read_text(struct reader *r, const char *word, const char *name, const char *value)
{
    struct {
        const char *name, **place;
    } texts[] = {{"engine", &r->o->live.engine}, {"roots", &r->o->live.roots_path},
                 {"pin", &r->o->live.pin_path},  {"state", &r->o->live.state_path},
                 {"status", &r->o->status_path}, {"prometheus", &r->o->prometheus_path},
                 {"jobs", &r->o->live.jobs_path}};
    size_t i = 0;
    while (strcmp(texts[i].name, name) != 0)
        i++;
    if (value == NULL || *value == 0)
        return refuse(r, word, "a value is missing");
    *texts[i].place = value;
    if (i == 3 && (strlen(value) < 5 || strcmp(value + strlen(value) - 4, ".svr") != 0))
        return refuse(r, word, "the state file's name ends in .svr");
    return true;
}

static bool read_engine_option(struct reader *r, const char *word, const char *value)
{
    sv_route_request *route = &r->o->live.route;
    if (value == NULL || strchr(value, '=') == NULL)
        return refuse(r, word, "it should be option=NAME=VALUE");
    if (route->num_options == sizeof r->o->engine_options / sizeof r->o->engine_options[0])
        return refuse(r, word, "too many options of the engine");
    r->o->engine_options[route->num_options++] = value;
    return true;
}

static bool is_one_of(const char *name, const char *list)
{
    size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0))
            return length > 0;
    return false;
}

static bool is_status(const char *word)
{
    return strncmp(word, "status", 6) == 0 || strncmp(word, "prometheus", 10) == 0;
}

/* A word, which becomes name and value. */
static bool read_word(struct reader *r, char *word)
{
    char copy[128];
    char *equals = strchr(word, '=');
    char *value = equals != NULL ? equals + 1 : NULL;
    snprintf(copy, sizeof copy, "%s", word);
    if (equals != NULL)
        *equals = 0;
    if (is_one_of(word, "vls sl-offset seed threads drift budget retry tries lease patience "
                        "settle heartbeat"))
        return read_number(r, copy, word, value);
    if (is_one_of(word, "sl traffic repair passage vlarb update"))
        return read_choice(r, copy, word, value);
    if (is_one_of(word, "engine roots pin state status prometheus jobs"))
        return read_text(r, copy, word, value);
    if (strcmp(word, "option") == 0)
        return read_engine_option(r, copy, value);
    if (strcmp(word, "dry-run") == 0 && value == NULL)
        return r->o->dry_run = true;
    if (strcmp(word, "trust") == 0 && value == NULL)
        return r->o->five.trust = true;
    return refuse(r, copy, "there is no such option");
}

/* An engine that heeds roots gets OpenSM's own root file unless another is named. */
static void take_roots(plugin_options *o, const osm_subn_opt_t *opt)
{
    const sv_engine_info *about;
    if (o->live.roots_path != NULL || opt->root_guid_file == NULL || o->live.engine == NULL)
        return;
    for (size_t i = 0; (about = sv_engine_at(i)) != NULL; i++)
        if (strcmp(about->name, o->live.engine) == 0 && about->traits & SV_ENGINE_ROOTS)
            o->live.roots_path = opt->root_guid_file;
}

/* The words that are meant for us, without what marks them; returns how many, or MAX_WORDS + 1. */
static size_t split(char *text, char **words)
{
    static const char prefix[] = "selvage.";
    const size_t length = sizeof prefix - 1;
    bool ours = strncmp(text, prefix, length) == 0 || strstr(text, " selvage.") ||
                strstr(text, ",selvage.");
    char *rest = NULL;
    size_t count = 0;
    for (char *word = strtok_r(text, " ,\t", &rest); word != NULL && count <= MAX_WORDS;
         word = strtok_r(NULL, " ,\t", &rest)) {
        bool marked = strncmp(word, prefix, length) == 0;
        if (marked == ours && count < MAX_WORDS)
            words[count] = marked ? word + length : word;
        count += marked == ours;
    }
    return count;
}

bool plugin_read_options(plugin_options *o, const char *text, const osm_subn_opt_t *opt,
                         char *message, size_t size)
{
    struct reader r = {o, message, size};
    char *words[MAX_WORDS];
    *o = (plugin_options){.live = {.traffic = SV_TRAFFIC_MANAGED, .route = {.seed = 1}}};
    o->live.drift_percent = 50;
    o->live.update = SV_LIVE_STEPS;
    o->settle_ms = 1000;
    o->heartbeat_s = 30;
    o->five = (sv_five_options){.retry = 1000, .tries = 5, .lease = 60000, .patience = 60000};
    o->live.route.lmc = opt->lmc;
    o->live.route.options = o->engine_options;
    if (text == NULL || strcmp(text, "(null)") == 0)
        text = "";
    bool all = strlen(text) < sizeof o->text;
    snprintf(o->text, sizeof o->text, "%s", text);
    size_t count = split(o->text, words), known = count < MAX_WORDS ? count : MAX_WORDS;
    if (!all && known > 0)
        known--; /* the last one is cut off */
    /* Status files first: if anything else is wrong they are to say so. */
    for (size_t i = 0; i < known; i++)
        if (is_status(words[i]) && !read_word(&r, words[i]))
            return false;
    if (!all)
        return refuse(&r, "…", "more than 4095 bytes");
    if (count > MAX_WORDS)
        return refuse(&r, "…", "more than 64 options");
    for (size_t i = 0; i < count; i++)
        if (!is_status(words[i]) && !read_word(&r, words[i]))
            return false;
    if (o->live.route.vls + o->live.route.sl_offset > SV_HARDWARE_SLS)
        return refuse(&r, "sl-offset", "with that many VLs there would be SLs above 15");
    take_roots(o, opt);
    return true;
}
