flat in uvec2 drawn;

out uvec2 visible;

void main() { visible = drawn; }
