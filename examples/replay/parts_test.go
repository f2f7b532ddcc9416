package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/internal/report"
)

// slowTests is the output of go test -json for two packages, in which b has a test of 3 s and a skipped test. The packages take
// half a second longer than their tests. The slow test passes or fails, or hangs until another package begins.
func slowTests(end string) string {
	var b strings.Builder
	event := func(at float64, action, pkg, test string, elapsed float64) {
		fmt.Fprintf(&b, `{"Time":"2026-03-01T10:00:%09.6fZ","Action":%q,"Package":%q`, at, action, pkg)
		if test != "" {
			fmt.Fprintf(&b, `,"Test":%q`, test)
		}
		if elapsed >= 0 {
			fmt.Fprintf(&b, `,"Elapsed":%g`, elapsed)
		}
		b.WriteString("}\n")
	}
	for _, pkg := range []string{"x/a", "x/b"} {
		event(0, "start", pkg, "", -1)
		for i := range 4 {
			test := fmt.Sprint("Test", i)
			event(0.1*float64(i), "run", pkg, test, -1)
			event(0.1*float64(i+1), "pass", pkg, test, 0.1)
		}
		event(0.4, "run", pkg, "TestSkipped", -1)
		event(0.4, "skip", pkg, "TestSkipped", 0)
		if pkg == "x/a" {
			event(0.9, "pass", pkg, "", 0.9)
			continue
		}
		event(0.4, "run", pkg, "TestSlow", -1)
		switch end {
		case "hang":
			event(30.4, "start", "x/c", "", -1)
		default:
			event(3.4, end, pkg, "TestSlow", 3)
			event(3.9, end, pkg, "", 3.9)
		}
	}
	return b.String()
}

// The advice names the slow test, and not the package around it.
func TestAdviceNamesTheSlowTest(t *testing.T) {
	d, r := diagnosed(t, slowTests("pass"))
	const pkg = "x/b (TestSkipped skipped)"
	assert.Equal(t, "The longest of 11 tasks is "+pkg+": it alone takes 3.9 s of the 3.9 s of phase go test packages. Its "+
		"longest part is TestSlow, which takes 3 s.", d.Slow)
	assert.Contains(t, d.Do, "Look first at TestSlow, which takes 3 s of the 3.9 s of "+pkg+".")
	assert.Contains(t, d.Saves, "If "+pkg+" were as short as the next longest of its phase, 0.9 s, that would save at most 3 s.")
	assert.Equal(t, "tests of x/b", r.Apart.Longest[0].Part.Phase)
	assert.Nil(t, r.Apart.Longest[1].Part)

	for end, says := range map[string]string{"fail": "1 task never succeeded: it failed or was killed after 3 s.",
		"hang": "2 tasks had not ended when the log ended: they had run up to 30 s."} {
		d, r = diagnosed(t, slowTests(end))
		assert.Contains(t, d.Slow, says)
		assert.Contains(t, d.Do, "Look first at task TestSlow of go test tests of x/b: ")
		assert.NotEqual(t, "packages", r.Unended.Worst[0].Phase)
	}
}

// A test counts once: in its package, or by itself.
func TestPackagesAndTheirTestsAreNotAddedUp(t *testing.T) {
	_, r := diagnosed(t, slowTests("pass"), "-alike")
	assert.InDelta(t, 0.4+3.4, r.NoAction.Time, 1e-9, "the packages take 4.8 s")
	assert.Equal(t, 9, r.Input.Tasks)
	assert.Contains(t, strings.Join(r.Notes, "\n"), "phase go test packages is not replayed")

	// A package without tests consists of no other task, so it counts itself.
	alone := `{"Time":"2026-03-01T10:00:00Z","Action":"start","Package":"x/p"}
{"Time":"2026-03-01T10:00:20Z","Action":"pass","Package":"x/p","Elapsed":20}
`
	_, r = diagnosed(t, slowTests("pass")+alone, "-alike")
	assert.InDelta(t, 0.4+3.4+20, r.NoAction.Time, 1e-9)
	assert.Equal(t, 10, r.Input.Tasks)
	assert.Contains(t, strings.Join(r.Notes, "\n"), "2 tasks of phase go test packages are not replayed: they consist of the tasks of "+
		"other phases")

	args := []string{"-json", "-policy", "least-cost"}
	for run := range 10 { // logs of ten runs, on ten days
		args = append(args, file(t, strings.ReplaceAll(slowTests("pass"), "2026-03-01", fmt.Sprintf("2026-03-%02d", run+1))))
	}
	code, out, errors := call(args...)
	require.Zero(t, code, errors)
	var all report.Report
	require.NoError(t, json.Unmarshal([]byte(out), &all))
	assert.Equal(t, 90, all.Input.Tasks, "nine tests")
	assert.InDelta(t, 10*(0.8+3), all.NoAction.Time, 0.01, "the tests of a run take 3.8 s")
	assert.Equal(t, 110, all.Apart.Compared)
}

// The name of a package with many skipped tests is long. It is cut, and the package still consists of its tests.
func TestThePartsOfALongNameAreFound(t *testing.T) {
	log := strings.ReplaceAll(slowTests("pass"), "TestSkipped", "TestSkipped"+strings.Repeat("Long", 100))
	d, _ := diagnosed(t, log)
	assert.Contains(t, d.Slow, "Its longest part is TestSlow, which takes 3 s.")
	_, r := diagnosed(t, log, "-alike")
	assert.InDelta(t, 0.4+3.4, r.NoAction.Time, 1e-9, "the packages take 4.8 s")
}
