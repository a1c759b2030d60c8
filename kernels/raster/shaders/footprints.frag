// What a point or splat covers of a pixel, times its colour.
flat in vec2 center;
flat in vec3 conic;
flat in vec4 color;

out vec4 drawn;

const float LEAST = 1.0 / 255.0, MOST = 0.99;

void main() {
    vec2 away = gl_FragCoord.xy - center;
    float far = conic.x * away.x * away.x + 2.0 * conic.y * away.x * away.y + conic.z * away.y * away.y;
#if DISCS
    bool own = floor(center) == floor(gl_FragCoord.xy);
    if (far > 1.0 && !own) discard;
    drawn = vec4(color.rgb, 1.0);
#else
    float alpha = color.a * exp(-far / 2.0);
    if (alpha < LEAST) discard;
    alpha = min(alpha, MOST);
    drawn = vec4(color.rgb * alpha, alpha);
#endif
}
