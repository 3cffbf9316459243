/* Which messages are sure to get no note: the quick looks of core/language.py and core/self_harm.py, at ASCII alone. */

#include <stdint.h>
#include <string.h>

#define LONGEST 1000   /* characters of a message that is looked at here */
#define FEW_WORDS 6    /* from so many words on, one must be English */
#define PRIME 0x100000001B3ull
#define OFFSET 0xCBF29CE484222325ull

enum { ENGLISH = 1, FOREIGN = 2, HARM = 4, KINDS = 7 };

typedef struct {
    uint64_t *words; /* a hash table of 2 ** bits entries: a word's hash, its last bits what the word is */
    const char *phrases; /* each ends with a zero and has a space in it */
    int32_t bits, phrase_count;
} Screen;

static uint64_t *entry(const Screen *screen, uint64_t hash) {
    const uint64_t last = (1ull << screen->bits) - 1;
    uint64_t place = (hash >> 20) & last;
    while (screen->words[place] && (screen->words[place] ^ hash) & ~(uint64_t)KINDS) place = (place + 1) & last;
    return screen->words + place;
}

/* Enter words, each ending with a line feed. */
void emoscope_screen_add(const Screen *screen, const char *words, int64_t size, int32_t kind) {
    uint64_t hash = OFFSET;
    for (int64_t i = 0; i < size; i++) {
        if (words[i] != '\n') {
            hash = (hash ^ (uint8_t)words[i]) * PRIME;
            continue;
        }
        uint64_t *found = entry(screen, hash);
        *found = (hash & ~(uint64_t)KINDS) | (*found & KINDS) | (uint64_t)kind;
        hash = OFFSET;
    }
}

static int is_space(char c) { return (c >= 9 && c <= 13) || (c >= 28 && c <= 32); }
static int is_letter(char c) { return c >= 'a' && c <= 'z'; }
static int is_mark(char c) {
    return c == '.' || c == ',' || c == ';' || c == ':' || c == '!' || c == '?' || c == '(' || c == ')' || c == '"' || c == '*';
}
static int is_gap(char c) { return c == ' ' || c == '.' || c == '_' || c == '*' || c == '-'; }
static int is_filler(char c) {
    return (c >= '0' && c <= '9') || c == '@' || c == '$' || c == '!' || (c != ' ' && is_gap(c));
}

/* Words that are spelt so as not to be found: letters with marks between them, or thrice the same letter. */
static int is_disguised(const char *text, int32_t size) {
    for (int32_t i = 0; i + 2 < size; i++) {
        if (!is_letter(text[i])) continue;
        if (text[i + 1] == text[i] && text[i + 2] == text[i]) return 1;
        int32_t end = i + 1;
        while (end < size && is_filler(text[end])) end++;
        if (end > i + 1 && end < size && is_letter(text[end])) return 1;
        if (i + 4 < size && (i == 0 || !is_letter(text[i - 1])) && is_gap(text[i + 1]) &&
            is_letter(text[i + 2]) && is_gap(text[i + 3]) && is_letter(text[i + 4]) &&
            (i + 5 == size || !is_letter(text[i + 5])))
            return 1;
    }
    return 0;
}

static int has_phrase(const Screen *screen, const char *text, int32_t size) {
    for (int32_t i = 1; i < size; i++) {
        if (text[i] != ' ') continue;
        const char *phrase = screen->phrases;
        for (int32_t number = 0; number < screen->phrase_count; number++) {
            const int32_t length = (int32_t)strlen(phrase), before = (int32_t)(strchr(phrase, ' ') - phrase);
            if (before <= i && i - before + length <= size && text[i - 1] == phrase[before - 1] &&
                !memcmp(text + i - before, phrase, length))
                return 1;
            phrase += length + 1;
        }
    }
    return 0;
}

static int is_clear(const Screen *screen, const char *text, int32_t size) {
    char lower[LONGEST];
    if (size > LONGEST) return 0;
    int32_t words = 0, english = 0;
    uint64_t word = OFFSET, part = OFFSET; /* a part of a word ends at hyphens and apostrophes, too */
    for (int32_t i = 0; i <= size; i++) {
        char c = ' ';
        if (i < size) c = lower[i] = text[i] >= 'A' && text[i] <= 'Z' ? text[i] + 32 : text[i];
        const int ends = is_space(c) || is_mark(c);
        if (ends || c == '-' || c == '\'') {
            if (part != OFFSET && *entry(screen, part) & HARM) return 0;
            part = OFFSET;
        } else {
            part = (part ^ (uint8_t)c) * PRIME;
        }
        if (!ends) {
            word = (word ^ (uint8_t)c) * PRIME;
        } else if (word != OFFSET) {
            const uint64_t found = *entry(screen, word);
            if (found & FOREIGN) return 0;
            english |= (found & ENGLISH) != 0;
            words++;
            word = OFFSET;
        }
    }
    return (words < FEW_WORDS || english) && !is_disguised(lower, size) && !has_phrase(screen, lower, size);
}

/* clear[i] becomes 1 if the ASCII text from starts[i] up to starts[i + 1] is sure to get no note. */
void emoscope_screen(const Screen *screen, const char *texts, const int64_t *starts, int32_t count, uint8_t *clear) {
    for (int32_t i = 0; i < count; i++)
        clear[i] = (uint8_t)is_clear(screen, texts + starts[i], (int32_t)(starts[i + 1] - starts[i]));
}
