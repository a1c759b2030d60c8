// One colour.
uniform vec4 color;

out vec4 drawn;

void main() {
    drawn = color;
}
