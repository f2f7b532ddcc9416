package svg

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A picture is valid XML, whatever its texts.
func TestPicturesAreValid(t *testing.T) {
	p := New(100, 50, `a<b>"&`, "]]>")
	p.Text(1, 2, "end", "soft", "<&>")
	p.Slanted(1, 2, "<&>")
	p.Rect(0, 0, 1, 1, "g1", "<&>")
	p.Rect(0, 0, 1, 1, "g1", "")
	p.Dot(0, 0, 1, "mark", "<&>")
	p.Line(0, 0, 1, 1, "grid")
	tips := 0
	for d := xml.NewDecoder(strings.NewReader(string(p.Bytes()))); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "title" {
			tips++
		}
	}
	assert.Equal(t, 3, tips)
}

func TestTable(t *testing.T) {
	columns, rows := Table(`
| a | b | c |
|---|---|---|
| 1 | 2 |
| other | table |

| a | c |
|---|---|
| 3 | 4 |
text
| 5 | 6 | 7 |
| a | b | c |
|---|---|---|
| 8 | | 9 | 10 |
`, "a", "b")
	assert.Equal(t, []string{"a", "b", "c"}, columns)
	assert.Equal(t, [][]string{{"1", "2", ""}, {"other", "table", ""}, {"8", "", "9", "10"}}, rows)
}
