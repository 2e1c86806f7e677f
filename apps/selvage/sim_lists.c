/*
 * sim_lists.c: what `selvage sim` can be asked: --profile help tells every number of every profile
 * with its unit and where it comes from, --traffic help the patterns and their keys, --policy help
 * the policies and theirs.
 */
#include <stdio.h>
#include <string.h>

#include "selvage/sim_shared.h"

/* ---- profiles ---- */

static void print_profile(sv_text *out, const sv_profile *profile)
{
    sv_text_print(out, "\n%s: %s\nfrom %s\n", profile->name, profile->summary, profile->source);
    for (size_t i = 0; sv_sim_param_at(i) != NULL; i++) {
        const sv_profile_value *value = &profile->values[i];
        sv_text_print(out, "  %-21s %-11s %s\n", value->name_value,
                      value->published ? "published:" : "our choice:", value->why);
    }
}

static void print_profiles(sv_text *out)
{
    const sv_sim_param *param;
    const sv_profile *profile;
    sv_text_print(out, "--set NAME=VALUE replaces a value of the profile:\n");
    for (size_t i = 0; (param = sv_sim_param_at(i)) != NULL; i++) {
        char values[40];
        snprintf(values, sizeof values, "%s%s%s", param->values, param->word != NULL ? "|" : "",
                 param->word != NULL ? param->word : "");
        sv_text_print(out, "  %-15s %-13s %s\n", param->name, values, param->help);
    }
    for (size_t i = 0; (profile = sv_profile_at(i)) != NULL; i++)
        print_profile(out, profile);
}

static void json_profile(sv_json *j, const sv_profile *profile)
{
    sv_json_begin_object(j, NULL);
    sv_json_text(j, "name", profile->name);
    sv_json_text(j, "summary", profile->summary);
    sv_json_text(j, "source", profile->source);
    sv_json_begin_array(j, "values");
    for (size_t i = 0; sv_sim_param_at(i) != NULL; i++) {
        const sv_profile_value *value = &profile->values[i];
        sv_json_begin_row(j, NULL, '{');
        sv_json_text(j, "name", sv_sim_param_at(i)->name);
        sv_json_text(j, "value", strchr(value->name_value, '=') + 1);
        sv_json_bool(j, "published", value->published);
        sv_json_text(j, "why", value->why);
        sv_json_end(j, '}');
    }
    sv_json_end(j, ']');
    sv_json_end(j, '}');
}

static void json_profiles(sv_text *out)
{
    sv_json j;
    const sv_sim_param *param;
    sv_json_init(&j, out);
    sv_json_begin_object(&j, NULL);
    sv_json_begin_array(&j, "parameters");
    for (size_t i = 0; (param = sv_sim_param_at(i)) != NULL; i++) {
        sv_json_begin_row(&j, NULL, '{');
        sv_json_text(&j, "name", param->name);
        sv_json_text(&j, "values", param->values);
        sv_json_text(&j, "word", param->word);
        sv_json_text(&j, "help", param->help);
        sv_json_end(&j, '}');
    }
    sv_json_end(&j, ']');
    sv_json_begin_array(&j, "profiles");
    for (size_t i = 0; sv_profile_at(i) != NULL; i++)
        json_profile(&j, sv_profile_at(i));
    sv_json_end(&j, ']');
    sv_json_end(&j, '}');
}

void sim_list_profiles(sv_text *out, bool json)
{
    (json ? json_profiles : print_profiles)(out);
}

/* ---- traffic ---- */

static void print_keys(sv_text *out, const sv_sim_pattern_key *keys)
{
    for (; keys != NULL && keys->name != NULL; keys++)
        sv_text_print(out, "      %-10s %s (%s)\n", keys->name, keys->meaning, keys->otherwise);
}

static void print_traffic(sv_text *out)
{
    const sv_sim_pattern *pattern;
    sv_text_print(out,
                  "--traffic PATTERN, or PATTERN:KEY=VALUE,... (in brackets: what stands for a "
                  "key that is not given)\n");
    for (size_t i = 0; (pattern = sv_sim_pattern_at(i)) != NULL; i++) {
        sv_text_print(out, "  %-12s %s%s%s\n", pattern->name, pattern->summary,
                      pattern->endless ? "; endless" : "", pattern->waits ? "; waits" : "");
        print_keys(out, pattern->keys);
    }
    sv_text_print(out, "keys of all that do not wait:\n");
    print_keys(out, sv_sim_pattern_keys(false));
    sv_text_print(out, "keys of all that wait (what is sent next depends on what arrived):\n");
    print_keys(out, sv_sim_pattern_keys(true));
}

static void json_keys(sv_json *j, const char *key, const sv_sim_pattern_key *keys)
{
    sv_json_begin_array(j, key);
    for (; keys != NULL && keys->name != NULL; keys++) {
        sv_json_begin_row(j, NULL, '{');
        sv_json_text(j, "name", keys->name);
        sv_json_text(j, "meaning", keys->meaning);
        sv_json_text(j, "otherwise", keys->otherwise);
        sv_json_end(j, '}');
    }
    sv_json_end(j, ']');
}

static void json_traffic(sv_text *out)
{
    sv_json j;
    const sv_sim_pattern *pattern;
    sv_json_init(&j, out);
    sv_json_begin_object(&j, NULL);
    sv_json_begin_array(&j, "patterns");
    for (size_t i = 0; (pattern = sv_sim_pattern_at(i)) != NULL; i++) {
        sv_json_begin_object(&j, NULL);
        sv_json_text(&j, "name", pattern->name);
        sv_json_text(&j, "summary", pattern->summary);
        sv_json_bool(&j, "endless", pattern->endless);
        sv_json_bool(&j, "waits", pattern->waits);
        json_keys(&j, "keys", pattern->keys);
        sv_json_end(&j, '}');
    }
    sv_json_end(&j, ']');
    json_keys(&j, "keys", sv_sim_pattern_keys(false));
    json_keys(&j, "keys_of_waiting", sv_sim_pattern_keys(true));
    sv_json_end(&j, '}');
}

void sim_list_traffic(sv_text *out, bool json)
{
    (json ? json_traffic : print_traffic)(out);
}

/* ---- policies ---- */

static void print_policies(sv_text *out)
{
    const sv_adapt_about *about;
    sv_text_print(out,
                  "--policy NAME, or NAME:KEY=VALUE,... (in brackets: what stands for a key that "
                  "is not given; * as published)\n");
    for (size_t i = 0; (about = sv_adapt_at(i)) != NULL; i++) {
        sv_text_print(out, "  %-14s %s\n", about->name, about->summary);
        if (about->source != NULL)
            sv_text_print(out, "                 from %s\n", about->source);
        for (const sv_adapt_key *const *key = about->keys; key != NULL && *key != NULL; key++)
            sv_text_print(out, "      %-10s %s (%s%s)\n", (*key)->name, (*key)->meaning,
                          (*key)->otherwise, (*key)->published ? " *" : "");
    }
}

static void json_policies(sv_text *out)
{
    sv_json j;
    const sv_adapt_about *about;
    sv_json_init(&j, out);
    sv_json_begin_object(&j, NULL);
    sv_json_begin_array(&j, "policies");
    for (size_t i = 0; (about = sv_adapt_at(i)) != NULL; i++) {
        sv_json_begin_object(&j, NULL);
        sv_json_text(&j, "name", about->name);
        sv_json_text(&j, "summary", about->summary);
        sv_json_text(&j, "source", about->source);
        sv_json_begin_array(&j, "keys");
        for (const sv_adapt_key *const *key = about->keys; key != NULL && *key != NULL; key++) {
            sv_json_begin_row(&j, NULL, '{');
            sv_json_text(&j, "name", (*key)->name);
            sv_json_text(&j, "meaning", (*key)->meaning);
            sv_json_text(&j, "otherwise", (*key)->otherwise);
            sv_json_bool(&j, "published", (*key)->published);
            sv_json_end(&j, '}');
        }
        sv_json_end(&j, ']');
        sv_json_end(&j, '}');
    }
    sv_json_end(&j, ']');
    sv_json_end(&j, '}');
}

void sim_list_policies(sv_text *out, bool json)
{
    (json ? json_policies : print_policies)(out);
}

int sim_list(struct app *app, sim_list_fn *list, bool json)
{
    sv_text out;
    sv_status status = app_print_begin(app, &out);
    if (status == SV_OK) {
        list(&out, json);
        status = app_print_end(app, &out);
    }
    return app_exit(app, status);
}
