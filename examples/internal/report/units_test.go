package report

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A column of a table on the page has one unit of time.
func TestColumnsHaveOneUnit(t *testing.T) {
	page, err := os.ReadFile("testdata/report.html")
	require.NoError(t, err)
	unit := regexp.MustCompile(`^[\d.]+ (s|min|h)$`)
	cell := regexp.MustCompile(`(?s)<t[hd][^>]*>(.*?)</t[hd]>`)
	tables := regexp.MustCompile(`(?s)<table class="sortable">.*?</table>`).FindAllString(string(page), -1)
	require.NotEmpty(t, tables)
	found := 0
	for _, table := range tables {
		units := map[int]map[string]bool{}
		_, body, _ := strings.Cut(table, "<tbody>")
		for row := range strings.SplitSeq(body, "</tr>") {
			for column, m := range cell.FindAllStringSubmatch(row, -1) {
				if u := unit.FindStringSubmatch(m[1]); u != nil {
					if units[column] == nil {
						units[column] = map[string]bool{}
					}
					units[column][u[1]] = true
					found++
				}
			}
		}
		for column, of := range units {
			assert.Len(t, of, 1, "column %d of %.200s", column, table)
		}
	}
	assert.Greater(t, found, 20)
	assert.Equal(t, "1.5 min", SpanIn(90, 200))
	assert.Equal(t, "90 s", SpanIn(90, 119))
	assert.Equal(t, "0.5 h", SpanIn(1800, 7200))
}
