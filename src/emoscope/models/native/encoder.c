/* A BERT-like encoder with 8-bit weights, for processors with AVX-512 VNNI.

   The rows of a call are stored one after the other, without padding; only attention separates them. Every sum is
   computed in the same order whatever the batch, so a row's scores are the same alone and in any batch. Names are those
   of the exported graph (models/export/graph.py), whose weights are used. */

#include <immintrin.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma")))
#define INLINE static inline __attribute__((always_inline)) TARGET
#define UNROLLED _Pragma("GCC unroll 8")
#define PANEL 64        /* columns computed together: four vectors of sums */
#define ROWS 6          /* rows computed together */
#define AT_ONCE 128     /* tokens computed together: the values between two layers stay in the cache */
#define ALIGNED(bytes) (((bytes) + 63) & ~(size_t)63)

/* `x @ weight + bias` for x in bytes, in which `zero` is 0; sums start with the contribution of that zero. */
typedef struct {
    const int8_t *packed;
    const int32_t *first;
    const float *scales, *bias;
    int32_t inputs, outputs;
} Linear;

/* How the input is quantised: multiplied by `factors` or, without them, divided by a step for each row. */
typedef struct {
    const float *factors;
    float smallest_step;
    int32_t zero;
} Site;

typedef struct {
    const float *weight, *bias;
} Norm;

typedef struct {
    Linear three, output, wide, narrow;
    Site three_site, output_site, wide_site, narrow_site;
    Norm output_norm, narrow_norm;
} Layer;

typedef struct {
    const double *weight, *bias;
    int32_t inputs, outputs;
} Dense;

typedef struct {
    const int8_t *pieces;
    const float *piece_scales, *positions, *second;
    Norm norm;
    const Layer *layers;
    const Dense *head;
    int32_t width, inner, heads, layer_count, head_count, relu;
    int32_t vectors, pooled[2]; /* which tokens each pooled vector is the mean of */
    int32_t segments, mask;     /* which tokens are in the second segment; the id of the mask */
    float epsilon;
} Encoder;

/* The tokens of a row; `first` to `last` is the turn to label. */
typedef struct {
    const int32_t *pieces;
    int32_t length, first, last;
} Row;

/* The choices of Layout.feed and Window.segments. */
enum { FIRST, ALL, LABELLED, MASKED_OR_ALL, MASKED_OR_LABELLED };
enum { NO_SEGMENTS, LABELLED_SEGMENT, OTHERS_SEGMENT };

int emoscope_supported(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vnni");
}

/* Weights in the order in which the product reads them: panels of columns, four inputs of a column side by side. */
void emoscope_pack(const int8_t *weight, int32_t inputs, int32_t outputs, int32_t zero, int8_t *packed,
                   int32_t *first) {
    memset(first, 0, sizeof(int32_t) * outputs);
    for (int32_t input = 0; input < inputs; input += 4)
        for (int32_t begin = 0; begin < outputs; begin += PANEL) {
            const int8_t *from = weight + (size_t)input * outputs + begin;
            int8_t *to = packed + (size_t)begin * inputs + (size_t)input * PANEL;
            for (int32_t column = 0; column < PANEL; column++)
                for (int32_t i = 0; i < 4; i++) {
                    to[4 * column + i] = from[(size_t)i * outputs + column];
                    first[begin + column] -= zero * from[(size_t)i * outputs + column];
                }
        }
}

INLINE __m512 polynomial(__m512 x, const float *coefficients, const int count) {
    __m512 made = _mm512_set1_ps(coefficients[0]);
    UNROLLED for (int i = 1; i < count; i++) made = _mm512_fmadd_ps(made, x, _mm512_set1_ps(coefficients[i]));
    return made;
}

/* 2 to the power of x, with a relative error of 1e-6 */
INLINE __m512 power_of_two(__m512 x) {
    static const float taylor[] = {1.33335581e-3f, 9.61812910e-3f, 5.55041087e-2f, 2.40226507e-1f, 6.93147181e-1f, 1.0f};
    __m512 whole = _mm512_roundscale_ps(x, 8);
    return _mm512_scalef_ps(polynomial(_mm512_sub_ps(x, whole), taylor, 6), whole);
}

/* x / 2 * (1 + erf(x / sqrt(2))); erf as a quotient of polynomials, to 1e-6 */
INLINE __m512 gelu(__m512 x) {
    static const float above[] = {-2.72614225801306e-10f, 2.77068142495902e-08f,  -2.10102402082508e-06f,
                                  -5.69250639462346e-05f, -7.34990630326855e-04f, -2.95459980854025e-03f,
                                  -1.60960333262415e-02f};
    static const float below[] = {-1.45660718464996e-05f, -2.13374055278905e-04f, -1.68282697438203e-03f,
                                  -7.37332916720468e-03f, -1.42647390514189e-02f};
    const __m512 end = _mm512_set1_ps(4.0f);
    __m512 z = _mm512_mul_ps(x, _mm512_set1_ps(0.70710678f));
    z = _mm512_max_ps(_mm512_min_ps(z, end), _mm512_sub_ps(_mm512_setzero_ps(), end));
    __m512 square = _mm512_mul_ps(z, z), divisor = polynomial(square, below, 5);
    __m512 inverse = _mm512_rcp14_ps(divisor);
    inverse = _mm512_mul_ps(inverse, _mm512_fnmadd_ps(divisor, inverse, _mm512_set1_ps(2.0f)));
    __m512 erf = _mm512_mul_ps(_mm512_mul_ps(polynomial(square, above, 7), z), inverse);
    __m512 half = _mm512_mul_ps(x, _mm512_set1_ps(0.5f));
    return _mm512_fmadd_ps(half, erf, half);
}

INLINE __m128i as_bytes(__m512 x, int32_t zero) {
    __m512i number = _mm512_add_epi32(_mm512_cvtps_epi32(x), _mm512_set1_epi32(zero));
    return _mm512_cvtusepi32_epi8(_mm512_max_epi32(number, _mm512_setzero_si512()));
}

/* sums += four products of bytes in each lane; in assembly, as compilers copy registers around the intrinsic. */
INLINE __m512i with_products(__m512i sums, __m512i numbers, __m512i weights) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(numbers), "v"(weights));
    return sums;
}

enum { PLAIN, GELU, RELU, ADDED };

/* `count` rows of bytes times one panel of columns. With ADDED, `added` is added; `steps` has a factor per row. */
INLINE void tile(const int count, const int mode, const Linear *linear, const uint8_t *numbers, int panel, float *made,
                 int made_width, const float *added, const float *steps) {
    __m512i sums[ROWS][4];
    const int32_t *first = linear->first + panel * PANEL;
    UNROLLED for (int row = 0; row < count; row++)
        UNROLLED for (int part = 0; part < 4; part++) sums[row][part] = _mm512_loadu_si512(first + 16 * part);
    const int8_t *weight = linear->packed + (size_t)panel * PANEL * linear->inputs;
    const int inputs = linear->inputs;
    for (int input = 0; input < inputs; input += 4, weight += 4 * PANEL) {
        __m512i w[4];
        UNROLLED for (int part = 0; part < 4; part++) w[part] = _mm512_load_si512(weight + 64 * part);
        UNROLLED for (int row = 0; row < count; row++) {
            int32_t four;
            memcpy(&four, numbers + (size_t)row * inputs + input, 4);
            __m512i x = _mm512_set1_epi32(four);
            UNROLLED for (int part = 0; part < 4; part++) sums[row][part] = with_products(sums[row][part], x, w[part]);
        }
    }
    UNROLLED for (int part = 0; part < 4; part++) {
        int column = panel * PANEL + 16 * part;
        __m512 scale = _mm512_loadu_ps(linear->scales + column), bias = _mm512_loadu_ps(linear->bias + column);
        UNROLLED for (int row = 0; row < count; row++) {
            __m512 by = steps ? _mm512_mul_ps(scale, _mm512_set1_ps(steps[row])) : scale;
            __m512 value = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums[row][part]), by, bias);
            if (mode == GELU) value = gelu(value);
            if (mode == RELU) value = _mm512_max_ps(value, _mm512_setzero_ps());
            if (mode == ADDED) value = _mm512_add_ps(value, _mm512_loadu_ps(added + (size_t)row * made_width + column));
            _mm512_storeu_ps(made + (size_t)row * made_width + column, value);
        }
    }
}

INLINE void product(const int mode, const Linear *linear, const uint8_t *numbers, int count, float *made,
                    const float *added, const float *steps) {
    const int width = linear->outputs, inputs = linear->inputs;
    for (int panel = 0; panel < width / PANEL; panel++) {
        for (int row = 0; row < count; row += ROWS) {
            const uint8_t *from = numbers + (size_t)row * inputs;
            float *to = made + (size_t)row * width;
            const float *more = mode == ADDED ? added + (size_t)row * width : NULL, *step = steps ? steps + row : NULL;
            switch (count - row) {
            case 1: tile(1, mode, linear, from, panel, to, width, more, step); break;
            case 2: tile(2, mode, linear, from, panel, to, width, more, step); break;
            case 3: tile(3, mode, linear, from, panel, to, width, more, step); break;
            case 4: tile(4, mode, linear, from, panel, to, width, more, step); break;
            case 5: tile(5, mode, linear, from, panel, to, width, more, step); break;
            default: tile(6, mode, linear, from, panel, to, width, more, step);
            }
        }
    }
}

TARGET static void plain_product(const Linear *l, const uint8_t *numbers, int count, float *made) {
    product(PLAIN, l, numbers, count, made, NULL, NULL);
}
TARGET static void gelu_product(const Linear *l, const uint8_t *numbers, int count, float *made) {
    product(GELU, l, numbers, count, made, NULL, NULL);
}
TARGET static void relu_product(const Linear *l, const uint8_t *numbers, int count, float *made) {
    product(RELU, l, numbers, count, made, NULL, NULL);
}
TARGET static void added_product(const Linear *l, const uint8_t *numbers, int count, float *made, const float *added) {
    product(ADDED, l, numbers, count, made, added, NULL);
}
TARGET static void stepped_product(const Linear *l, const uint8_t *numbers, int count, float *made, const float *added,
                                   const float *steps) {
    product(ADDED, l, numbers, count, made, added, steps);
}

/* A normalised row and, with `site`, also its bytes. */
INLINE void normalised(const float *row, int width, const Norm *norm, float epsilon, float *made, const Site *site,
                       uint8_t *numbers) {
    __m512 sum = _mm512_setzero_ps();
    for (int column = 0; column < width; column += 16) sum = _mm512_add_ps(sum, _mm512_loadu_ps(row + column));
    __m512 mean = _mm512_set1_ps(_mm512_reduce_add_ps(sum) / (float)width);
    __m512 squares = _mm512_setzero_ps();
    for (int column = 0; column < width; column += 16) {
        __m512 off = _mm512_sub_ps(_mm512_loadu_ps(row + column), mean);
        squares = _mm512_fmadd_ps(off, off, squares);
    }
    __m512 by = _mm512_set1_ps(1.0f / sqrtf(_mm512_reduce_add_ps(squares) / (float)width + epsilon));
    for (int column = 0; column < width; column += 16) {
        __m512 off = _mm512_mul_ps(_mm512_sub_ps(_mm512_loadu_ps(row + column), mean), by);
        __m512 value = _mm512_fmadd_ps(off, _mm512_loadu_ps(norm->weight + column), _mm512_loadu_ps(norm->bias + column));
        _mm512_storeu_ps(made + column, value);
        if (site) {
            __m512 scaled = _mm512_mul_ps(value, _mm512_loadu_ps(site->factors + column));
            _mm_storeu_si128((__m128i *)(numbers + column), as_bytes(scaled, site->zero));
        }
    }
}

/* A row as bytes, with its own step, which is returned. */
INLINE float stepped(const float *row, int width, const Site *site, uint8_t *numbers) {
    __m512 largest = _mm512_loadu_ps(row);
    for (int column = 16; column < width; column += 16)
        largest = _mm512_max_ps(largest, _mm512_loadu_ps(row + column));
    float step = _mm512_reduce_max_ps(largest) * (1.0f / (float)(255 - site->zero));
    if (step < site->smallest_step) step = site->smallest_step;
    __m512 by = _mm512_set1_ps(1.0f / step);
    for (int column = 0; column < width; column += 16)
        _mm_storeu_si128((__m128i *)(numbers + column),
                         as_bytes(_mm512_mul_ps(_mm512_loadu_ps(row + column), by), site->zero));
    return step;
}

/* Transpose sixteen rows of sixteen numbers. */
INLINE void turned(const float *from, size_t stride, int rows, float *to, size_t to_stride) {
    __m512 r[16], t[16];
    for (int i = 0; i < 16; i++) r[i] = _mm512_loadu_ps(from + (size_t)(i < rows ? i : rows - 1) * stride);
    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
    }
    for (int i = 0; i < 16; i += 4) {
        r[i] = _mm512_shuffle_ps(t[i], t[i + 2], 0x44);
        r[i + 1] = _mm512_shuffle_ps(t[i], t[i + 2], 0xee);
        r[i + 2] = _mm512_shuffle_ps(t[i + 1], t[i + 3], 0x44);
        r[i + 3] = _mm512_shuffle_ps(t[i + 1], t[i + 3], 0xee);
    }
    for (int i = 0; i < 4; i++) {
        t[i] = _mm512_shuffle_f32x4(r[i], r[i + 4], 0x88);
        t[i + 4] = _mm512_shuffle_f32x4(r[i], r[i + 4], 0xdd);
        t[i + 8] = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0x88);
        t[i + 12] = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0xdd);
    }
    for (int i = 0; i < 4; i++) {
        _mm512_storeu_ps(to + i * to_stride, _mm512_shuffle_f32x4(t[i], t[i + 8], 0x88));
        _mm512_storeu_ps(to + (i + 8) * to_stride, _mm512_shuffle_f32x4(t[i], t[i + 8], 0xdd));
        _mm512_storeu_ps(to + (i + 4) * to_stride, _mm512_shuffle_f32x4(t[i + 4], t[i + 12], 0x88));
        _mm512_storeu_ps(to + (i + 12) * to_stride, _mm512_shuffle_f32x4(t[i + 4], t[i + 12], 0xdd));
    }
}

/* The sums of four vectors, or with `largest` their maxima, each in all four numbers of its quarter. */
INLINE __m512 reduced(const int largest, const __m512 *v) {
#define JOINED(a, b) (largest ? _mm512_max_ps(a, b) : _mm512_add_ps(a, b))
    __m512 one = JOINED(_mm512_shuffle_f32x4(v[0], v[1], 0x44), _mm512_shuffle_f32x4(v[0], v[1], 0xee));
    __m512 two = JOINED(_mm512_shuffle_f32x4(v[2], v[3], 0x44), _mm512_shuffle_f32x4(v[2], v[3], 0xee));
    __m512 four = JOINED(_mm512_shuffle_f32x4(one, two, 0x88), _mm512_shuffle_f32x4(one, two, 0xdd));
    four = JOINED(four, _mm512_permute_ps(four, 0x4e));
    return JOINED(four, _mm512_permute_ps(four, 0xb1));
#undef JOINED
}

/* One of the four numbers of `reduced`, broadcast. */
INLINE __m512 quarter(__m512 four, const int number) {
    switch (number) {
    case 0: return _mm512_shuffle_f32x4(four, four, 0x00);
    case 1: return _mm512_shuffle_f32x4(four, four, 0x55);
    case 2: return _mm512_shuffle_f32x4(four, four, 0xaa);
    default: return _mm512_shuffle_f32x4(four, four, 0xff);
    }
}

/* Attention of one head within one row of `length` tokens; the result is in bytes. */
INLINE void attention(const int size, const float *three, int width, int length, const Site *site, uint8_t *numbers,
                      float *keys, float *match) {
    const size_t stride = 3 * (size_t)width;
    const int padded = (length + 15) & ~15, vectors = padded / 16;
    const float *key = three + width, *value = three + 2 * width;
    for (int first = 0; first < length; first += 16)
        for (int part = 0; part < size; part += 16)
            turned(key + first * stride + part, stride, length - first, keys + (size_t)part * padded + first, padded);
    const __m512 alpha = _mm512_set1_ps(1.44269504f / sqrtf((float)size)); /* log2(e), as powers of 2 are computed */
    const __mmask16 last = (__mmask16)(0xffff >> (padded - length));
    for (int row = 0; row < length; row += 4) {
        const float *query[4];
        for (int i = 0; i < 4; i++) query[i] = three + (size_t)(row + i < length ? row + i : length - 1) * stride;
        for (int place = 0; place < vectors; place += 2) {
            const int two = place + 1 < vectors;
            __m512 a[4], b[4];
            for (int i = 0; i < 4; i++) a[i] = b[i] = _mm512_setzero_ps();
            const float *at = keys + 16 * place;
            if (two) {
                for (int d = 0; d < size; d++, at += padded) {
                    __m512 k0 = _mm512_loadu_ps(at), k1 = _mm512_loadu_ps(at + 16);
                    for (int i = 0; i < 4; i++) {
                        __m512 q = _mm512_set1_ps(query[i][d]);
                        a[i] = _mm512_fmadd_ps(q, k0, a[i]);
                        b[i] = _mm512_fmadd_ps(q, k1, b[i]);
                    }
                }
            } else {
                for (int d = 0; d < size; d++, at += padded) {
                    __m512 k0 = _mm512_loadu_ps(at);
                    for (int i = 0; i < 4; i++) a[i] = _mm512_fmadd_ps(_mm512_set1_ps(query[i][d]), k0, a[i]);
                }
            }
            for (int i = 0; i < 4; i++) {
                _mm512_storeu_ps(match + (size_t)i * padded + 16 * place, a[i]);
                if (two) _mm512_storeu_ps(match + (size_t)i * padded + 16 * place + 16, b[i]);
            }
        }
        __m512 most[4], sums[4];
        UNROLLED for (int i = 0; i < 4; i++) most[i] = _mm512_set1_ps(-INFINITY);
        for (int place = 0; place < vectors; place++) {
            const __mmask16 mask = place == vectors - 1 ? last : 0xffff;
            UNROLLED for (int i = 0; i < 4; i++)
                most[i] = _mm512_mask_max_ps(most[i], mask, most[i], _mm512_loadu_ps(match + i * padded + 16 * place));
        }
        const __m512 highest = _mm512_mul_ps(reduced(1, most), alpha);
        UNROLLED for (int i = 0; i < 4; i++) {
            most[i] = quarter(highest, i);
            sums[i] = _mm512_setzero_ps();
        }
        for (int place = 0; place < vectors; place++) {
            const __mmask16 mask = place == vectors - 1 ? last : 0xffff;
            UNROLLED for (int i = 0; i < 4; i++) {
                float *scores = match + i * padded + 16 * place;
                __m512 x = power_of_two(_mm512_fmsub_ps(_mm512_loadu_ps(scores), alpha, most[i]));
                _mm512_storeu_ps(scores, x);
                sums[i] = _mm512_mask_add_ps(sums[i], mask, sums[i], x);
            }
        }
        const __m512 whole = _mm512_div_ps(_mm512_set1_ps(1.0f), reduced(0, sums));
        __m512 made[4][4];
        for (int i = 0; i < 4; i++)
            for (int part = 0; part < size / 16; part++) made[i][part] = _mm512_setzero_ps();
        for (int place = 0; place < length; place++) {
            const float *from = value + place * stride;
            for (int part = 0; part < size / 16; part++) {
                __m512 v = _mm512_loadu_ps(from + 16 * part);
                for (int i = 0; i < 4; i++)
                    made[i][part] = _mm512_fmadd_ps(_mm512_set1_ps(match[(size_t)i * padded + place]), v, made[i][part]);
            }
        }
        UNROLLED for (int i = 0; i < 4; i++) {
            if (row + i >= length) break;
            UNROLLED for (int part = 0; part < size / 16; part++) {
                __m512 by = _mm512_mul_ps(_mm512_loadu_ps(site->factors + 16 * part), quarter(whole, i));
                _mm_storeu_si128((__m128i *)(numbers + (size_t)(row + i) * width + 16 * part),
                                 as_bytes(_mm512_mul_ps(made[i][part], by), site->zero));
            }
        }
    }
}

TARGET static void attention_of_32(const float *three, int width, int length, const Site *site, uint8_t *numbers,
                                   float *keys, float *match) {
    attention(32, three, width, length, site, numbers, keys, match);
}
TARGET static void attention_of_64(const float *three, int width, int length, const Site *site, uint8_t *numbers,
                                   float *keys, float *match) {
    attention(64, three, width, length, site, numbers, keys, match);
}

INLINE void embedded(const Encoder *e, const Row *row_of, float *values, const Site *site, uint8_t *numbers) {
    const int width = e->width;
    for (int place = 0; place < row_of->length; place++) {
        const int32_t piece = row_of->pieces[place];
        const int8_t *from = e->pieces + (size_t)piece * width;
        const float *position = e->positions + (size_t)place * width;
        __m512 scale = _mm512_set1_ps(e->piece_scales[piece]);
        const int labelled = place >= row_of->first && place < row_of->last;
        const int second = (e->segments == LABELLED_SEGMENT && labelled && row_of->first > 1) ||
                           (e->segments == OTHERS_SEGMENT && !labelled && place > 0);
        float *row = values + (size_t)place * width;
        for (int column = 0; column < width; column += 16) {
            __m512i number = _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(from + column)));
            __m512 value = _mm512_fmadd_ps(_mm512_cvtepi32_ps(number), scale, _mm512_loadu_ps(position + column));
            if (second) value = _mm512_add_ps(value, _mm512_loadu_ps(e->second + column));
            _mm512_storeu_ps(row + column, value);
        }
        normalised(row, width, &e->norm, e->epsilon, row, site, numbers + (size_t)place * width);
    }
}

/* Whether a token is part of a pooled vector. */
INLINE int is_pooled(int how, const Encoder *e, const Row *row, int masked, int place) {
    if (how == FIRST) return place == 0;
    if (how >= MASKED_OR_ALL && masked) return row->pieces[place] == e->mask;
    return how == ALL || how == MASKED_OR_ALL || (place >= row->first && place < row->last);
}

/* The scores of a row, from means of its tokens' vectors. */
INLINE void scored(const Encoder *e, const Row *row, const float *values, float *weights, double *buffer,
                   double *scores) {
    const int width = e->width;
    double *given = buffer, *made = buffer + 4096;
    int masked = 0;
    for (int place = 0; place < row->length; place++) masked |= row->pieces[place] == e->mask;
    for (int vector = 0; vector < e->vectors; vector++) {
        int count = 0;
        for (int place = 0; place < row->length; place++)
            count += is_pooled(e->pooled[vector], e, row, masked, place);
        for (int place = 0; place < row->length; place++)
            weights[place] = is_pooled(e->pooled[vector], e, row, masked, place) ? 1.0f / (float)count : 0.0f;
        for (int column = 0; column < width; column += 16) {
            __m512 sum = _mm512_setzero_ps();
            for (int place = 0; place < row->length; place++)
                sum = _mm512_fmadd_ps(_mm512_set1_ps(weights[place]),
                                      _mm512_loadu_ps(values + (size_t)place * width + column), sum);
            double *to = given + vector * width + column;
            _mm512_storeu_pd(to, _mm512_cvtps_pd(_mm512_castps512_ps256(sum)));
            _mm512_storeu_pd(to + 8, _mm512_cvtps_pd(_mm512_extractf32x8_ps(sum, 1)));
        }
    }
    for (int number = 0; number < e->head_count; number++) {
        const Dense *dense = e->head + number;
        const int outputs = dense->outputs, is_last = number == e->head_count - 1;
        double *to = is_last ? scores : made;
        memcpy(to, dense->bias, sizeof(double) * outputs);
        for (int input = 0; input < dense->inputs; input++) {
            const double *weight = dense->weight + (size_t)input * outputs;
            for (int output = 0; output < outputs; output++) to[output] += given[input] * weight[output];
        }
        if (!is_last) {
            for (int output = 0; output < outputs; output++) made[output] = tanh(made[output]);
            double *other = given;
            given = made;
            made = other;
        }
    }
}

#define ROW(r) {pieces + starts[r], starts[(r) + 1] - starts[r], labelled[2 * (r)], labelled[2 * (r) + 1]}

/* Scores of rows whose tokens are stored one after the other: row r is starts[r] to starts[r + 1], its turn to label
   labelled[2 * r] to labelled[2 * r + 1]. Returns 0, or 1 if memory runs out. */
TARGET int emoscope_run(const Encoder *e, const int32_t *pieces, const int32_t *starts, const int32_t *labelled,
                        int32_t rows, double *scores) {
    const int width = e->width, inner = e->inner, size = width / e->heads;
    int longest = 0, most = AT_ONCE;
    for (int row = 0; row < rows; row++) {
        int length = starts[row + 1] - starts[row];
        if (length > longest) longest = length;
    }
    if (longest > most) most = longest;
    const int wide = inner > width ? inner : width, padded = (longest + 15) & ~15;
    const size_t parts[] = {
        ALIGNED(sizeof(float) * most * width), ALIGNED(sizeof(float) * most * 3 * width),
        ALIGNED(sizeof(float) * most * wide),  ALIGNED((size_t)most * wide),
        ALIGNED(sizeof(float) * most),         ALIGNED(sizeof(float) * 64 * padded),
        ALIGNED(sizeof(float) * 4 * padded),   ALIGNED(sizeof(double) * 8192),
    };
    size_t bytes = 64;
    for (int part = 0; part < 8; part++) bytes += parts[part];
    char *memory = malloc(bytes), *next = (char *)ALIGNED((size_t)memory);
    if (!memory) return 1;
    void *buffers[8];
    for (int part = 0; part < 8; part++, next += parts[part - 1]) buffers[part] = next;
    float *values = buffers[0], *three = buffers[1], *between = buffers[2], *steps = buffers[4], *keys = buffers[5],
          *match = buffers[6];
    uint8_t *numbers = buffers[3];
    const int32_t outputs = e->head[e->head_count - 1].outputs;
    for (int32_t first = 0, last; first < rows; first = last) {
        for (last = first + 1; last < rows && starts[last + 1] - starts[first] <= AT_ONCE;) last++;
        const int32_t begin = starts[first], count = starts[last] - begin;
        for (int32_t row = first; row < last; row++) {
            const size_t at = (size_t)(starts[row] - begin) * width;
            const Row given = ROW(row);
            embedded(e, &given, values + at, &e->layers[0].three_site, numbers + at);
        }
        for (int number = 0; number < e->layer_count; number++) {
            const Layer *layer = e->layers + number;
            plain_product(&layer->three, numbers, count, three);
            for (int32_t row = first; row < last; row++) {
                const size_t at = starts[row] - begin;
                for (int head = 0; head < e->heads; head++) {
                    Site site = layer->output_site;
                    site.factors += head * size;
                    const float *from = three + at * 3 * width + head * size;
                    uint8_t *to = numbers + at * width + head * size;
                    if (size == 32)
                        attention_of_32(from, width, starts[row + 1] - starts[row], &site, to, keys, match);
                    else
                        attention_of_64(from, width, starts[row + 1] - starts[row], &site, to, keys, match);
                }
            }
            added_product(&layer->output, numbers, count, between, values);
            for (int32_t row = 0; row < count; row++)
                normalised(between + (size_t)row * width, width, &layer->output_norm, e->epsilon,
                           values + (size_t)row * width, &layer->wide_site, numbers + (size_t)row * width);
            if (e->relu)
                relu_product(&layer->wide, numbers, count, between);
            else
                gelu_product(&layer->wide, numbers, count, between);
            for (int32_t row = 0; row < count; row++)
                steps[row] = stepped(between + (size_t)row * inner, inner, &layer->narrow_site,
                                     numbers + (size_t)row * inner);
            stepped_product(&layer->narrow, numbers, count, between, values, steps);
            const Site *site = number + 1 < e->layer_count ? &layer[1].three_site : NULL;
            for (int32_t row = 0; row < count; row++)
                normalised(between + (size_t)row * width, width, &layer->narrow_norm, e->epsilon,
                           values + (size_t)row * width, site, numbers + (size_t)row * width);
        }
        for (int32_t row = first; row < last; row++) {
            const Row given = ROW(row);
            scored(e, &given, values + (size_t)(starts[row] - begin) * width, steps, buffers[7],
                   scores + (size_t)row * outputs);
        }
    }
    free(memory);
    return 0;
}
