flat in uvec2 drawn;

out uvec2 visible;

void main() { visible = uvec2(drawn.x, drawn.y + uint(gl_PrimitiveID)); }
