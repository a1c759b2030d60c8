// One coarser level of a float pyramid; an invocation writes one channel of one pixel.
// Constants: CHANNELS, MEAN (0 or 1), EVEN (1: both sides of the finer level are), BYTES (0), SMALLEST (0: maximum, 1:
// minimum).
#include "better.glsl"
#include "share.glsl"

layout(local_size_x = 64, local_size_y = 4) in;

layout(std430, binding = 0) buffer Levels { uint data[]; };

uniform uint source_begin, target_begin, images;
uniform uvec2 source_size, target_size;  // width, height

uint at(uint begin, uint x, uint y) { return data[begin + (y * source_size.x + x) * CHANNELS]; }

float value(uint begin, uint x, uint y) { return uintBitsToFloat(at(begin, x, y)); }

uint extremum(uint begin, uvec2 pixel) {
    uvec2 first = 2u * pixel, last = min(first + 1u, source_size - 1u);
    uint upper = better(at(begin, first.x, first.y), at(begin, last.x, first.y));
    uint lower = better(at(begin, first.x, last.y), at(begin, last.x, last.y));
    return better(upper, lower);
}

float mean_of_four(uint begin, uvec2 first) {
    float upper = 0.25 * value(begin, first.x, first.y) + 0.25 * value(begin, first.x + 1u, first.y);
    float lower = 0.25 * value(begin, first.x, first.y + 1u) + 0.25 * value(begin, first.x + 1u, first.y + 1u);
    return upper + lower;
}

float mean_of_nine(uint begin, uvec2 pixel) {
    float total = 0.0;
    for (int dy = -1; dy <= 1; dy++) {
        uint weight_y = share(pixel.y, dy, source_size.y);
        for (int dx = -1; dx <= 1; dx++) {
            uint weight_x = share(pixel.x, dx, source_size.x);
            // A pixel outside the image has weight 0 and must not be read; 0 * inf would be NaN, too.
            if (weight_x == 0u || weight_y == 0u) continue;
            float share_y = float(weight_y) / float(divisor(source_size.y));
            float share_x = float(weight_x) / float(divisor(source_size.x));
            uint x = uint(int(2u * pixel.x) + dx), y = uint(int(2u * pixel.y) + dy);
            total += value(begin, x, y) * (share_y * share_x);
        }
    }
    return total;
}

uint mean(uint begin, uvec2 pixel) {
    return floatBitsToUint(bool(EVEN) ? mean_of_four(begin, 2u * pixel) : mean_of_nine(begin, pixel));
}

void reduce(uint image, uint row, uint column) {
    uint channel = column % CHANNELS;
    uint begin = source_begin + image * source_size.x * source_size.y * CHANNELS + channel;
    uvec2 pixel = uvec2(column / CHANNELS, row);
    uint target = target_begin + (image * target_size.y + row) * target_size.x * CHANNELS + column;
    data[target] = bool(MEAN) ? mean(begin, pixel) : extremum(begin, pixel);
}

void main() {
    uvec3 step = gl_NumWorkGroups * gl_WorkGroupSize;
    for (uint image = gl_GlobalInvocationID.z; image < images; image += step.z)
        for (uint row = gl_GlobalInvocationID.y; row < target_size.y; row += step.y)
            for (uint column = gl_GlobalInvocationID.x; column < target_size.x * CHANNELS; column += step.x)
                reduce(image, row, column);
}
