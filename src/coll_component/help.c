/* Messages for users. */

#include "component.h"

#include <dlfcn.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opal/util/show_help.h"

#define HELP_FILE "help-mca-coll-rustcoll.txt"

static FILE *open_beside_plugin(void)
{
    Dl_info info;
    char plugin[4096], path[sizeof plugin + sizeof HELP_FILE];
    if (!dladdr(&open_beside_plugin, &info) || NULL == info.dli_fname) {
        return NULL;
    }
    snprintf(plugin, sizeof plugin, "%s", info.dli_fname);
    snprintf(path, sizeof path, "%s/" HELP_FILE, dirname(plugin));
    return fopen(path, "r");
}

/* Returns the lines between a topic's line in brackets and the next such line, without comments. The caller frees them. */
static char *lines_of(const char *topic, FILE *file)
{
    char line[512], heading[128], *text = NULL;
    size_t length;
    int is_wanted = 0;
    FILE *lines = open_memstream(&text, &length);
    snprintf(heading, sizeof heading, "[%s]\n", topic);
    while (NULL != lines && NULL != fgets(line, sizeof line, file)) {
        if ('[' == line[0]) {
            is_wanted = 0 == strcmp(line, heading);
        } else if (is_wanted && '#' != line[0]) {
            fputs(line, lines);
        }
    }
    if (NULL != lines) {
        fclose(lines);
    }
    return text;
}

static char *format_of(const char *topic)
{
    FILE *file = open_beside_plugin();
    if (NULL == file) {
        return NULL;
    }
    char *format = lines_of(topic, file);
    fclose(file);
    return format;
}

/* The texts lie beside the plug-in, wherever that is installed: Open MPI 6 reads no files that did not exist when it was built. A component
 * that was built with Open MPI has its texts among Open MPI's. Texts are printed directly, because Open MPI 4.1 loses messages that a
 * process hands to its help system shortly before it ends, and sometimes others too. */
void rustcoll_show(const char *topic, ...)
{
    static const char rule[] = "--------------------------------------------------------------------------\n";
    char *format = format_of(topic), *text = NULL;
    va_list arguments;
    va_start(arguments, topic);
    if (NULL == format || '\0' == *format) {
        text = opal_show_help_vstring(HELP_FILE, topic, true, arguments);
        fputs(NULL == text ? topic : text, stderr);
    } else if (0 <= vasprintf(&text, format, arguments)) {
        fprintf(stderr, "%s%s%s", rule, text, rule);
    }
    va_end(arguments);
    free(format);
    free(text);
}
