// The extremum within each rectangle.
// Constants: BYTES (0: floats, 1: bytes), SMALLEST (0: maximum, 1: minimum).
#include "better.glsl"

layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Levels { uint data[]; };
layout(std430, binding = 1) readonly buffer Shapes { uvec4 shapes[]; };  // per level: width, height, begin
layout(std430, binding = 2) readonly buffer Rects { ivec4 rects[]; };
layout(std430, binding = 3) readonly buffer Images { int image_of[]; };
layout(std430, binding = 4) readonly buffer Against { uint against[]; };
layout(std430, binding = 5) writeonly buffer Result { uint result[]; };

uniform uint count, nothing;
uniform int finer;

#include "rect.glsl"

void main() {
    uint step = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint k = gl_GlobalInvocationID.x; k < count; k += step)
        result[k] = look_up(rects[k], image_of.length() > 1 ? image_of[k] : image_of[0], finer > 0 ? against[k] : 0u);
}
