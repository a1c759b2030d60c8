// One coarser level of a pyramid of bytes; an invocation writes one word of four bytes, whatever pixels they belong to.
// Constants: CHANNELS, MEAN (0 or 1), EVEN (1: both sides of the finer level are), BYTES (1), SMALLEST (0: maximum, 1:
// minimum).
#include "better.glsl"
#include "share.glsl"

layout(local_size_x = 64) in;

layout(std430, binding = 0) buffer Levels { uint data[]; };

uniform uint source_begin, target_begin, target_end;  // in bytes
uniform uvec2 source_size, target_size;               // width, height

uint at(uint begin, uint x, uint y) {
    uint position = begin + (y * source_size.x + x) * CHANNELS;
    return bitfieldExtract(data[position / 4u], int(position % 4u) * 8, 8);
}

uint extremum(uint begin, uvec2 pixel) {
    uvec2 first = 2u * pixel, last = min(first + 1u, source_size - 1u);
    uint upper = better(at(begin, first.x, first.y), at(begin, last.x, first.y));
    uint lower = better(at(begin, first.x, last.y), at(begin, last.x, last.y));
    return better(upper, lower);
}

// Half an odd quotient up, half an even one down.
uint quarter_to_even(uint total) { return (total + 1u + ((total >> 2) & 1u)) >> 2; }

// Sums over two odd sides need more than 32 bits; doubles are exact for whole numbers up to 53.
uint divide_to_even(double total, double divisor) {
    double quotient = floor(total / divisor), rest = total - quotient * divisor;
    if (rest < 0.0) { quotient -= 1.0; rest += divisor; }
    if (rest >= divisor) { quotient += 1.0; rest -= divisor; }
    uint whole = uint(quotient);
    return 2.0 * rest + double(whole & 1u) > divisor ? whole + 1u : whole;
}

double weighted_sum(uint begin, uvec2 pixel) {
    double total = 0.0;
    for (int dy = -1; dy <= 1; dy++) {
        uint weight_y = share(pixel.y, dy, source_size.y);
        for (int dx = -1; dx <= 1; dx++) {
            uint weight_x = share(pixel.x, dx, source_size.x);
            if (weight_x == 0u || weight_y == 0u) continue;
            uint value = at(begin, uint(int(2u * pixel.x) + dx), uint(int(2u * pixel.y) + dy));
            total += double(value) * double(weight_y) * double(weight_x);
        }
    }
    return total;
}

uint mean(uint begin, uvec2 pixel) {
    if (bool(EVEN)) {
        uvec2 first = 2u * pixel;
        uint upper = at(begin, first.x, first.y) + at(begin, first.x + 1u, first.y);
        return quarter_to_even(upper + at(begin, first.x, first.y + 1u) + at(begin, first.x + 1u, first.y + 1u));
    }
    double area = double(divisor(source_size.x)) * double(divisor(source_size.y));
    return divide_to_even(weighted_sum(begin, pixel), area);
}

uint reduced(uint position) {
    uint offset = position - target_begin, channel = offset % CHANNELS;
    uint pixel = offset / CHANNELS, pixels = target_size.x * target_size.y;
    uint begin = source_begin + pixel / pixels * source_size.x * source_size.y * CHANNELS + channel;
    uvec2 where = uvec2(pixel % target_size.x, pixel % pixels / target_size.x);
    return bool(MEAN) ? mean(begin, where) : extremum(begin, where);
}

void main() {
    uint first_word = target_begin / 4u, words = (target_end + 3u) / 4u - first_word;
    uint step = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < words; i += step) {
        // The first word may hold the end of the level before.
        uint word = data[first_word + i];
        for (uint k = 0u; k < 4u; k++) {
            uint position = (first_word + i) * 4u + k;
            if (position >= target_begin && position < target_end)
                word = bitfieldInsert(word, reduced(position), int(k) * 8, 8);
        }
        data[first_word + i] = word;
    }
}
