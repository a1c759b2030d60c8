// REDUCE or EXPAND of Burt and Adelson: an invocation writes one channel of one pixel.
// Constants: CHANNELS, EXPAND (0: every second pixel of the blurred source; 1: add the expanded source).
layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Source { float source[]; };
layout(std430, binding = 1) buffer Target { float target[]; };

uniform uint count;
uniform ivec2 source_size, target_size;  // width, height
uniform float sign;

// Index of pixel i of an image that is mirrored about its outermost pixels.
int mirrored(int i, int size) {
    int period = max(2 * (size - 1), 1), inside = abs(i) % period;
    return size > 1 ? min(inside, period - inside) : 0;
}

float weight(int tap) { return tap == 0 ? 0.375 : abs(tap) == 1 ? 0.25 : 0.0625; }

// Weight of the coarse pixel i / 2 + tap in the fine pixel i.
float share(int i, int tap) { return i % 2 == 1 ? (tap < 0 ? 0.0 : 0.5) : tap == 0 ? 0.75 : 0.125; }

float at(uint begin, int x, int y) { return source[begin + uint(y * source_size.x + x) * CHANNELS]; }

float reduced(uint begin, ivec2 pixel) {
    float total = 0.0;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++) {
            int x = mirrored(2 * pixel.x + dx, source_size.x), y = mirrored(2 * pixel.y + dy, source_size.y);
            total += at(begin, x, y) * (weight(dy) * weight(dx));
        }
    return total;
}

float expanded(uint begin, ivec2 pixel) {
    float total = 0.0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            float part = share(pixel.y, dy) * share(pixel.x, dx);
            int x = mirrored(2 * (pixel.x / 2 + dx), target_size.x) / 2;
            int y = mirrored(2 * (pixel.y / 2 + dy), target_size.y) / 2;
            if (part > 0.0) total += at(begin, x, y) * part;  // 0 * inf would be NaN
        }
    return total;
}

void main() {
    uint step = gl_NumWorkGroups.x * gl_WorkGroupSize.x, pixels = uint(target_size.x * target_size.y);
    for (uint k = gl_GlobalInvocationID.x; k < count; k += step) {
        uint pixel = k / CHANNELS % pixels, image = k / CHANNELS / pixels;
        uint begin = image * uint(source_size.x * source_size.y) * CHANNELS + k % CHANNELS;
        ivec2 place = ivec2(pixel % uint(target_size.x), pixel / uint(target_size.x));
        if (bool(EXPAND)) target[k] += sign * expanded(begin, place);
        else target[k] = reduced(begin, place);
    }
}
