// What a point or splat covers of a pixel, times its colour.
flat in vec2 center;
flat in vec3 spread;
flat in vec4 color;

out vec4 drawn;

const float LEAST = 1.0 / 255.0, MOST = 0.99;

void main() {
    vec2 away = gl_FragCoord.xy - center;
    // A sum of squares: of the inverse's products, floats lose what is left of large ones.
    vec2 steps = vec2(spread.x * away.x, spread.z * (away.y - spread.y * away.x));
    float far = dot(steps, steps);
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
