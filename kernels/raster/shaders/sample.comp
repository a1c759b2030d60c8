// A point's value: the mean of trilinear look-ups along one side of its footprint.
// Constants: CHANNELS.
layout(local_size_x = 64) in;

uniform sampler2D levels;
uniform uint count;
uniform int image;
uniform float white;
uniform vec2 size;  // of level 0 with what pads it, in pixels

struct Probe { vec2 point, along; float level, number; int image, unused; };
layout(std430, binding = 0) readonly buffer Probes { Probe probes[]; };
layout(std430, binding = 1) buffer Values { float values[]; };

const float NOTHING = uintBitsToFloat(0x7fc00000u);

void main() {
    for (uint k = gl_GlobalInvocationID.x; k < count; k += gl_NumWorkGroups.x * gl_WorkGroupSize.x) {
        Probe p = probes[k];
        if (p.image != image) continue;
        vec4 total = vec4(0.0);
        for (float i = 0.0; i < p.number; i += 1.0)
            total += textureLod(levels, (p.point + p.along * ((i + 0.5) / p.number - 0.5)) / size, p.level);
        total *= white / p.number;
        if (p.number == 0.0) total = vec4(NOTHING);
        for (int c = 0; c < CHANNELS; c++) values[k * CHANNELS + c] = total[c];
    }
}
