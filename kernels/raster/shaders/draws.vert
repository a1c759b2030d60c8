// Constants: TEXTURED (0 or 1).
layout(std430, row_major, binding = 0) readonly buffer Transforms { mat4 to_clip[]; };  // one for all, or one per draw
layout(std430, binding = 1) readonly buffer Draws { uvec2 draws[]; };                   // number, first triangle

in vec3 position;
in uint draw;
flat out uvec2 drawn;

#if TEXTURED
in vec2 uv;
out vec2 coordinates;
#endif

void main() {
    drawn = draws[draw];
    gl_Position = to_clip[min(draw, uint(to_clip.length()) - 1u)] * vec4(position, 1.0);
#if TEXTURED
    coordinates = uv;
#endif
}
