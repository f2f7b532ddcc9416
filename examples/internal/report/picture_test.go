package report

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// elements counts the elements of an SVG by name and class, and fails if it is not well-formed.
func elements(t *testing.T, svg []byte) (of map[string]int, text string) {
	t.Helper()
	of = map[string]int{}
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
		token, err := d.Token()
		if err == io.EOF {
			return of, text
		}
		require.NoError(t, err)
		switch x := token.(type) {
		case xml.StartElement:
			of[x.Name.Local]++
			for _, a := range x.Attr {
				if a.Name.Local == "class" {
					of[a.Value]++
				}
			}
		case xml.CharData:
			text += string(x)
		}
	}
}

// A picture has one bar for each attempt, two sentences with the times, and a legend of the kinds of bars.
func TestPicture(t *testing.T) {
	r := &Report{Schedules: []Schedule{{
		Policy: "mantri", Lanes: 2, Seconds: [2]float64{100, 40},
		Before: []Bar{{Lane: 0, Start: 0, End: 10, Kind: kindTask},
			{Lane: 1, Start: 0, End: 100, Kind: kindStraggler, Name: hostile}},
		After: []Bar{
			{Lane: 0, Start: 0, End: 10, Kind: kindTask}, {Lane: 1, Start: 0, End: 30, Kind: kindKilled},
			{Lane: 0, Start: 10, End: 40, Kind: kindCopy},
			{Lane: 2, Start: 0, End: 5, Kind: kindTask}, // a lane that is not shown
		},
	}}}
	var out bytes.Buffer
	require.NoError(t, r.SVG(&out))
	of, text := elements(t, out.Bytes())
	assert.Equal(t, 5, strings.Count(out.String(), "<title>task "), "five attempts are in lanes that are shown")
	assert.Equal(t, []int{3, 2, 2, 2, 1},
		[]int{of["k-task"], of["k-straggler"], of["k-killed"], of["k-copy"], of["k-failed"]}, "each bar, and the legend")
	assert.Zero(t, of["script"])
	assert.Contains(t, text, "without a policy: 100 s")
	assert.Contains(t, text, "with mantri: 40 s, 60.0% less")
	assert.Contains(t, out.String(), `x="0" y="11" width="1000"`, "the longest bar fills the width")
	assert.Contains(t, out.String(), `translate(20 44) scale(0.84 1.5)`, "between the margins, below the text")
	assert.Contains(t, out.String(), `translate(20 118) scale(0.84 1.5)`, "below the two lanes of the first half")
	assert.Contains(t, out.String(), `<line x1="400" x2="400" y2="20"/>`, "the phase ends at 40 of 100 s")

	assert.ErrorContains(t, new(Report).SVG(&out), "nothing to draw")
}

// A picture can be drawn of hostile names, and of a policy that saves nothing.
func TestPictureOfAnything(t *testing.T) {
	r := sample(t)
	require.NotEmpty(t, r.Schedules)
	for i := range r.Schedules {
		one := Report{Schedules: r.Schedules[i : i+1]}
		var out bytes.Buffer
		require.NoError(t, one.SVG(&out))
		elements(t, out.Bytes())
	}
	var out bytes.Buffer
	bar := []Bar{{End: 5, Kind: kindStraggler}}
	require.NoError(t, (&Report{Schedules: []Schedule{{Policy: "late", Lanes: 1, Seconds: [2]float64{5, 5}, Before: bar,
		After: bar}}}).SVG(&out))
	assert.Contains(t, out.String(), "with late: 5 s, the same", "nothing was saved")
}
