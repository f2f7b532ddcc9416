package live

import (
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine/shadow"
	"github.com/straggler-go/straggler/restart/tracker"
)

func at(seconds float64) time.Time { return time.Unix(1000, 0).Add(time.Duration(seconds * 1e9)) }

// watched returns a view at a time, and a phase of tasks on as many slots, which the view shows.
func watched(t testing.TB, now float64, tasks int, n Names) (*View, *Watch, *tracker.Tracker) {
	v := New(Options{Now: func() time.Time { return at(now) }})
	w := v.Watch("resize", n)
	tr, err := tracker.New(tracker.Config{Tasks: tasks, Slots: tasks, Interval: time.Second, OnEvent: w.OnEvent})
	require.NoError(t, err)
	return v, w, tr
}

func get(t testing.TB, h http.Handler, path string) string {
	r := httptest.NewRecorder()
	h.ServeHTTP(r, httptest.NewRequest(http.MethodGet, path, nil))
	require.Equal(t, http.StatusOK, r.Code)
	return r.Body.String()
}

// Tasks take ten seconds. Machine 3 is four times slower, and shows it at its first three tasks. Task 12 is silent.
func TestStragglersAndTheirCauses(t *testing.T) {
	v, w, tr := watched(t, 80, 16, Names{Machine: func(m int) string { return fmt.Sprint("<n", m, ">") }})
	for task := range 16 {
		tr.Start(at(0), task, task%4)
	}
	for task := range 8 {
		if task%4 != 3 {
			tr.Finish(at(10), task, 0)
		}
	}
	for _, task := range []int{3, 7, 11} {
		tr.Finish(at(40), task, 0)
	}
	tr.Record(at(20), 12, 0, tracker.Report{Score: .2})
	tr.Record(at(79), 13, 0, tracker.Report{Score: .7})
	tr.Report(at(79), 14, 0, tracker.Report{Score: .1})
	page := get(t, v, "/stragglers/")
	for _, want := range []string{
		"7 of 7 running attempts take longer than 1.5 typical times.", "9 tasks have ended in 1m20s",
		"<td>task 15</td><td>&lt;n3&gt;</td>", "the machine is 4.0 times slower than the others",
		"no report for 1m0s", "70 % done after 8.0 typical times", "no report since it began, and other attempts report", "8.0 times<div",
		`style="width:100%;--typical:17%"`, // the bar ends at six typical times
	} {
		assert.Contains(t, page, want)
	}
	assert.NotContains(t, page, "<n3>", "names are escaped")
	tr.Restart(at(79.5), 14, 0)
	tr.Start(at(79.5), 14, 1)
	tr.Start(at(79.6), 12, 1)
	tr.Finish(at(79.9), 12, 1)
	part := get(t, v, "/stragglers/part")
	assert.NotContains(t, part, "<html", "only the changing part")
	assert.Contains(t, part, "1 copies and 1 restarts were made.")
	assert.Contains(t, part, "10 tasks have ended")
	w.SetBill(shadow.Bill{Tasks: 5, Saved: .2, Without: time.Minute, With: 48 * time.Second})
	assert.Contains(t, get(t, v, "/"), "Acting would have saved time: saves 20 %: 48s in place of 1m0s")
	metrics := get(t, v, "/metrics")
	for _, want := range []string{
		`straggler_stragglers{phase="resize"} 5`, `straggler_copies_total{phase="resize"} 1`, "# EOF\n",
		`straggler_typical_seconds{phase="resize"} 10`,
	} {
		assert.Contains(t, metrics, want)
	}
	tr.Close(at(80))
	assert.Contains(t, get(t, v, "/"), "The phase is over.")
	v.Forget("resize")
	assert.Contains(t, get(t, v, "/"), "No phase runs.")
}

// Times are compared per unit of work, if works are known.
func TestWorks(t *testing.T) {
	v, _, tr := watched(t, 30, 3, Names{Work: []float64{1, 2, 5}})
	for task := range 3 {
		tr.Start(at(0), task, 0)
	}
	tr.Finish(at(10), 0, 0)
	tr.Finish(at(20), 1, 0)
	assert.Contains(t, get(t, v, "/"), "All 1 running attempts are within 1.5 typical times.")
}

func TestToken(t *testing.T) {
	v := New(Options{Token: "secret"})
	for path, header := range map[string]string{"/": "", "/?token=wrong": "", "/part": "Bearer wrong", "/metrics": "secret"} {
		r := httptest.NewRecorder()
		request := httptest.NewRequest(http.MethodGet, path, nil)
		request.Header.Set("Authorization", header)
		v.ServeHTTP(r, request)
		assert.Equal(t, http.StatusUnauthorized, r.Code, path)
	}
	get(t, v, "/?token=secret")
	r := httptest.NewRecorder()
	v.ServeHTTP(r, httptest.NewRequest(http.MethodPost, "/?token=secret", nil))
	assert.Equal(t, http.StatusMethodNotAllowed, r.Code)
}

// Odd events and names do no harm.
func TestRubbish(t *testing.T) {
	v := New(Options{})
	w := v.Watch("a\"b\\c\nd\xff</script>", Names{Work: []float64{-1}})
	for kind := range tracker.EventKind(tracker.EventKinds + 2) {
		w.OnEvent(tracker.Event{Kind: kind, Task: -5, Attempt: -1, Machine: -7}, tracker.Answer{Task: -1, Overtaken: []int{-1, 9}})
		w.OnEvent(tracker.Event{Kind: kind, Task: math.MaxInt, Time: at(-1e6)}, tracker.Answer{Task: 3, Found: []tracker.Answer{{Task: -3}}})
	}
	page := get(t, v, "/")
	assert.NotContains(t, page, "d\xff</script>")
	assert.Contains(t, get(t, v, "/metrics"), `phase="a\"b\\c\nd?</script>"`)
}

// A viewer that connects and reads nothing costs the batch nothing: events go on.
func TestAViewerThatHangs(t *testing.T) {
	v, _, tr := watched(t, 100, 2000, Names{})
	for task := range 2000 {
		tr.Start(at(0), task, task)
	}
	tr.Finish(at(10), 0, 0)
	s := httptest.NewServer(v)
	defer s.Close()
	for range 20 {
		c, err := net.Dial("tcp", s.Listener.Addr().String())
		require.NoError(t, err)
		defer c.Close()
		_, err = io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		require.NoError(t, err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for task := 1; task < 2000; task++ {
			tr.Finish(at(11), task, 0)
		}
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		t.Fatal("the batch waits for a viewer")
	}
}

func BenchmarkPage(b *testing.B) {
	v, _, tr := watched(b, 100, 10_100, Names{})
	for task := range 10_100 {
		tr.Start(at(0), task, task%100)
	}
	for task := range 100 {
		tr.Finish(at(10), task, 0)
	}
	for task := 100; task < 10_100; task++ {
		tr.Record(at(20), task, 0, tracker.Report{Score: .3})
	}
	for _, path := range []string{"/", "/part", "/metrics"} {
		b.Run(strings.Trim(path, "/")+"page", func(b *testing.B) {
			for b.Loop() {
				get(b, v, path)
			}
		})
	}
	b.Run("event", func(b *testing.B) {
		w := v.Watch("x", Names{})
		e := tracker.Event{Kind: tracker.Recorded, Time: at(1), Report: tracker.Report{Score: .5}}
		for b.Loop() {
			w.OnEvent(e, tracker.Answer{Decision: restart.Decision{}})
		}
	})
}

// Works of any size break no page.
func TestOddWorks(t *testing.T) {
	for _, works := range [][]float64{{1, 5e-324}, {5e-324, 1}, {5e-324, 5e-324}, {1e308, 5e-324}, {1, 1e308}, {math.NaN(), math.Inf(1)}} {
		v, _, tr := watched(t, 30, 2, Names{Work: works})
		tr.Start(at(0), 0, 0)
		tr.Start(at(0), 1, 1)
		tr.Finish(at(10), 0, 0)
		page := get(t, v, "/")
		assert.NotContains(t, page, "NaN", "%v", works)
		get(t, v, "/metrics")
	}
}
