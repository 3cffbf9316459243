/* Which messages certainly get no note: the quick checks of core/language.py and core/self_harm.py, for plain texts
   (plain_text.py) only. Everything uncertain is left to those modules. */

#include <stdint.h>
#include <string.h>

#define LONGEST 1000   /* characters of the longest message that is checked here */
#define FEW_WORDS 6    /* with at least this many words, one must be English */
#define PRIME 0x100000001B3ull
#define OFFSET 0xCBF29CE484222325ull
#define SYMBOL 1 /* any character that has no equivalent in ASCII */

enum { ENGLISH = 1, FOREIGN = 2, HARM = 4, KINDS = 7 };
enum { IS_ENGLISH = 1, HARMLESS = 2 };

typedef struct {
    uint64_t *words; /* a hash table of 2 ** bits entries: a word's hash, with its kind in the last bits */
    const char *phrases; /* each begins with its length and the position of its first space */
    int32_t bits, phrase_count;
} Screen;

static uint64_t *entry(const Screen *screen, uint64_t hash) {
    const uint64_t last = (1ull << screen->bits) - 1;
    uint64_t place = (hash >> 20) & last;
    while (screen->words[place] && (screen->words[place] ^ hash) & ~(uint64_t)KINDS) place = (place + 1) & last;
    return screen->words + place;
}

/* Add words, each terminated by a line feed. */
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

/* Disguised spellings: letters separated by punctuation, or the same letter three times. */
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
    for (int32_t i = 1; i + 1 < size; i++) {
        if (text[i] != ' ') continue;
        const char *phrase = screen->phrases + 2;
        for (int32_t number = 0; number < screen->phrase_count; number++) {
            const int32_t length = phrase[-2], before = phrase[-1];
            if (text[i - 1] == phrase[before - 1] && text[i + 1] == phrase[before + 1] && before <= i &&
                i - before + length <= size && !memcmp(text + i - before, phrase, length))
                return 1;
            phrase += length + 2;
        }
    }
    return 0;
}

/* Convert to equivalent lower-case ASCII; returns whether all of it was ASCII, or -1 for an ambiguous character. */
static int as_ascii(const uint32_t *codes, int32_t size, char *made) {
    int ascii = 1;
    for (int32_t i = 0; i < size; i++) {
        const uint32_t code = codes[i];
        if (code <= SYMBOL) return -1;
        ascii &= code < 128;
        made[i] = code >= 'A' && code <= 'Z' ? (char)(code + 32)
                  : code < 128               ? (char)code
                  : code == 0x2019           ? '\''
                  : code == 0x2026           ? '.'
                                             : SYMBOL;
    }
    return ascii;
}

/* Whether the character at i may change how words are split next to symbols: in addresses and names, which are left
   out, in quotation marks, and in runs of three letters. */
static int is_doubtful(const char *text, int32_t size, int32_t i) {
    const char c = text[i];
    if (c == '@' || c == '#' || c == '<' || c == '[' || c == '/') return 1;
    if (c == '.') return i >= 3 && !memcmp(text + i - 3, "www", 3);
    if (c == '\'') return i == 0 || i + 1 == size || !is_letter(text[i - 1]) || !is_letter(text[i + 1]);
    return i >= 2 && is_letter(c) && text[i - 1] == c && text[i - 2] == c;
}

/* In ASCII, words are separated by spaces and punctuation; next to symbols they are letters with inner apostrophes. */
static int is_english(const Screen *screen, const char *text, int32_t size, int ascii) {
    int32_t words = 0, english = 0;
    uint64_t word = OFFSET;
    for (int32_t i = 0; i <= size; i++) {
        const char c = i < size ? text[i] : ' ';
        if (!ascii && i < size && is_doubtful(text, size, i)) return 0;
        if (ascii ? !is_space(c) && !is_mark(c) : is_letter(c) || c == '\'') {
            word = (word ^ (uint8_t)c) * PRIME;
        } else if (word != OFFSET) {
            const uint64_t found = *entry(screen, word);
            if (found & FOREIGN) return 0;
            english |= (found & ENGLISH) != 0;
            words++;
            word = OFFSET;
        }
    }
    return words < FEW_WORDS || english;
}

/* Whatever is no letter or digit separates words here; the phrases are looked for with one space between words. */
static int is_harmless(const Screen *screen, const char *text, int32_t size) {
    char plain[LONGEST];
    int32_t length = 0;
    uint64_t word = OFFSET;
    for (int32_t i = 0; i <= size; i++) {
        const char c = i < size ? text[i] : ' ';
        if (is_letter(c) || (c >= '0' && c <= '9')) {
            word = (word ^ (uint8_t)c) * PRIME;
            plain[length++] = c;
        } else if (word != OFFSET) {
            if (*entry(screen, word) & HARM) return 0;
            word = OFFSET;
            if (i < size) plain[length++] = ' ';
        }
    }
    return !is_disguised(text, size) && !has_phrase(screen, plain, length);
}

/* Set sure[i] to what is certain about text i, with the codes starts[i] to starts[i + 1]. */
void emoscope_screen_texts(const Screen *screen, const uint32_t *codes, const int64_t *starts, int32_t count, uint8_t *sure) {
    char text[LONGEST];
    for (int32_t i = 0; i < count; i++) {
        const int64_t size = starts[i + 1] - starts[i];
        const int ascii = size > LONGEST ? -1 : as_ascii(codes + starts[i], (int32_t)size, text);
        sure[i] = 0;
        if (ascii < 0) continue;
        if (is_english(screen, text, (int32_t)size, ascii)) sure[i] |= IS_ENGLISH;
        if (is_harmless(screen, text, (int32_t)size)) sure[i] |= HARMLESS;
    }
}
