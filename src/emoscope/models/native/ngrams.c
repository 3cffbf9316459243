/* Sums of the weights of hashed n-grams, as models/linear computes them with numpy: see ngram_hashing.py. */

#include <emmintrin.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BASE 0x9E3779B97F4A7C15ull
#define APOSTROPHE 0x2019 /* the curved apostrophe */
#define LONGEST 16 /* characters or words of an n-gram; also labels */

typedef struct {
    const int8_t *table; /* a row for each bucket */
    const double *field_weights;
    const int32_t *word_lengths, *char_lengths;
    int32_t bits, labels, fields, word_count, char_count;
} Ngrams;

static uint64_t mixed(uint64_t value) {
    value = (value ^ (value >> 33)) * 0xFF51AFD7ED558CCDull;
    value = (value ^ (value >> 33)) * 0xC4CEB9FE1A85EC53ull;
    return value ^ (value >> 33);
}

static int is_space(uint32_t code) { return (code >= 9 && code <= 13) || (code >= 28 && code <= 32); }
static int is_letter(uint32_t code) { return code >= 'a' && code <= 'z'; }
static int is_word(uint32_t code) { return is_letter(code) || (code >= '0' && code <= '9'); }

/* A plain text (plain_text.py) as lower-case tokens between spaces, with a space at both ends: spaced_tokens of
   ngram_block.py. */
static int32_t spaced(const uint32_t *text, int32_t length, uint32_t *made) {
    int32_t size = 0, kept = 0;
    uint32_t *shortened = made + 2 * length + 2; /* space after the result */
    for (int32_t i = 0; i < length; i++) {
        uint32_t code = text[i] >= 'A' && text[i] <= 'Z' ? text[i] + 32 : text[i];
        if (code == APOSTROPHE) code = '\'';
        if (is_letter(code) && kept > 1 && shortened[kept - 1] == code && shortened[kept - 2] == code) continue;
        shortened[kept++] = code;
    }
    made[size++] = ' ';
    for (int32_t i = 0; i < kept;) {
        if (is_space(shortened[i])) {
            i++;
            continue;
        }
        if (size > 1) made[size++] = ' ';
        if (!is_word(shortened[i])) {
            made[size++] = shortened[i++];
            continue;
        }
        while (i < kept && (is_word(shortened[i]) ||
                            (shortened[i] == '\'' && i + 1 < kept && is_word(shortened[i + 1]))))
            made[size++] = shortened[i++];
    }
    made[size++] = ' ';
    return size;
}

/* All buckets of a text are computed first and added later, so that many rows of the table are prefetched. */
typedef struct {
    uint32_t *all;
    int32_t count;
} Buckets;

static inline void note(const Ngrams *model, uint64_t hash, Buckets *found) {
    const uint32_t bucket = (uint32_t)(mixed(hash) >> (64 - model->bits));
    _mm_prefetch((const char *)model->table + (size_t)bucket * model->labels, _MM_HINT_T0);
    found->all[found->count++] = bucket;
}

/* Integer sums do not depend on the order. Four labels, as most models have, are added at once. */
static void add_rows(const Ngrams *model, const Buckets *found, int32_t *sums) {
    const int32_t labels = model->labels;
    if (labels != 4) {
        for (int32_t i = 0; i < found->count; i++)
            for (int32_t label = 0; label < labels; label++)
                sums[label] += model->table[(size_t)found->all[i] * labels + label];
        return;
    }
    __m128i total = _mm_setzero_si128();
    for (int32_t i = 0; i < found->count; i++) {
        int32_t row;
        memcpy(&row, model->table + (size_t)found->all[i] * 4, 4);
        const __m128i bytes = _mm_cvtsi32_si128(row), twice = _mm_unpacklo_epi8(bytes, bytes);
        total = _mm_add_epi32(total, _mm_srai_epi32(_mm_unpacklo_epi16(twice, twice), 24));
    }
    _mm_storeu_si128((__m128i *)sums, total);
}

/* The hash of an n-gram is that of the shorter one with the same start, plus one product. */
static void find_characters(const Ngrams *model, const uint32_t *codes, int32_t size, uint64_t salt,
                            const uint64_t *powers, Buckets *found) {
    int32_t longest = 0, wanted[LONGEST + 1] = {0};
    for (int32_t number = 0; number < model->char_count; number++) {
        const int32_t length = model->char_lengths[number];
        wanted[length]++;
        if (length > longest) longest = length;
    }
    for (int32_t first = 0; first < size; first++) {
        const int32_t most = longest < size - first ? longest : size - first;
        uint64_t hash = salt;
        for (int32_t length = 1; length <= most; length++) {
            hash += codes[first + length - 1] * powers[length - 1];
            for (int32_t times = wanted[length]; times > 0; times--) note(model, hash + 2 * (uint64_t)length, found);
        }
    }
}

static void find_words(const Ngrams *model, const uint32_t *codes, int32_t size, uint64_t salt, Buckets *found) {
    for (int32_t number = 0; number < model->word_count; number++) {
        const int32_t length = model->word_lengths[number];
        for (int32_t first = 1; first < size; first++) {
            if (codes[first] == ' ' || codes[first - 1] != ' ') continue;
            uint64_t hash = 0, power = 1;
            int32_t left = length;
            for (int32_t i = first; i < size; i++) {
                if (codes[i] == ' ' && codes[i - 1] != ' ' && --left == 0) break;
                hash += codes[i] * power;
                power *= BASE;
            }
            if (left == 0) note(model, hash + salt + 2 * (uint64_t)length + 1, found);
        }
    }
}

/* Scores of rows of texts; the last text is the first field, missing fields are empty, earlier texts are not read. Row r has
   the texts first[r] to first[r + 1], text t the codes starts[t] to starts[t + 1]. It is a raw text if plain[t], else its
   tokens are separated by single spaces already. Returns 0, or 1 if memory runs out. */
int emoscope_ngram_scores(const Ngrams *model, const uint32_t *codes, const int64_t *starts, const uint8_t *plain,
                    const int64_t *first, int32_t rows, double *scores) {
    uint64_t powers[LONGEST] = {1};
    for (int i = 1; i < LONGEST; i++) powers[i] = powers[i - 1] * BASE;
    int64_t longest = 0;
    for (int64_t text = 0; text < first[rows]; text++)
        if (starts[text + 1] - starts[text] > longest) longest = starts[text + 1] - starts[text];
    const size_t room = 3 * (size_t)longest + 8, kinds = model->char_count + model->word_count;
    uint32_t *buffer = malloc(sizeof(uint32_t) * (room + kinds * (2 * (size_t)longest + 2)));
    int32_t *sums = malloc(sizeof(int32_t) * 2 * model->fields * (model->labels + 1));
    if (!buffer || !sums) {
        free(buffer);
        free(sums);
        return 1;
    }
    for (int32_t row = 0; row < rows; row++) {
        const size_t stride = model->labels + 1, block = stride * model->fields;
        memset(sums, 0, sizeof(int32_t) * 2 * block);
        for (int32_t field = 0; field < model->fields; field++) {
            const int64_t text = first[row + 1] - 1 - field;
            const int32_t length = text < first[row] ? 0 : (int32_t)(starts[text + 1] - starts[text]);
            int32_t size = length + 2;
            if (length && plain[text]) {
                size = spaced(codes + starts[text], length, buffer);
            } else {
                buffer[0] = buffer[size - 1] = ' ';
                if (length) memcpy(buffer + 1, codes + starts[text], sizeof(uint32_t) * length);
            }
            const uint64_t salt = mixed(((uint64_t)field + 1) * BASE);
            int32_t *words = sums + field * stride, *characters = words + block;
            Buckets found = {buffer + room, 0};
            find_words(model, buffer, size, salt, &found);
            add_rows(model, &found, words);
            words[model->labels] = found.count;
            found.count = 0;
            find_characters(model, buffer, size, salt, powers, &found);
            add_rows(model, &found, characters);
            characters[model->labels] = found.count;
        }
        double *made = scores + (size_t)row * model->labels;
        for (int32_t label = 0; label < model->labels; label++) made[label] = 0;
        for (int part = 0; part < 2; part++)
            for (int32_t field = 0; field < model->fields; field++) {
                const int32_t *from = sums + part * block + field * stride;
                const int32_t count = from[model->labels];
                const double factor = model->field_weights[field] / sqrt(count > 1 ? count : 1);
                for (int32_t label = 0; label < model->labels; label++) made[label] += from[label] * factor;
            }
    }
    free(buffer);
    free(sums);
    return 0;
}
