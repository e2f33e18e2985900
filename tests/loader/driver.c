/* Does what its arguments say, and prints after each step what the loader has mapped, in its order. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *(*opener)(const char *, int);
typedef int (*function)(void);

static int show(struct dl_phdr_info *info, size_t size, void *data)
{
    printf("map %s\n", info->dlpi_name);
    return 0;
}

static void step(void *result)
{
    if (result)
        puts("ok");
    else
        printf("error %s\n", dlerror());
    dl_iterate_phdr(show, NULL);
    fflush(stdout);
}

int main(int count, char **words)
{
    step(words);
    for (int at = 1; at < count;) {
        if (!strcmp(words[at], "open")) {
            step(dlopen(words[at + 2], atoi(words[at + 1])));
            at += 3;
        } else if (!strcmp(words[at], "from")) {
            void *caller = dlopen(words[at + 1], RTLD_NOLOAD | RTLD_LAZY);
            step(((opener)dlsym(caller, "open_from"))(words[at + 3], atoi(words[at + 2])));
            at += 4;
        } else {
            void *library = dlopen(words[at + 1], RTLD_NOLOAD | RTLD_LAZY);
            ((function)dlsym(library, words[at + 2]))();
            step(library);
            at += 3;
        }
    }
    return 0;
}
