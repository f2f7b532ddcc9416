package report

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// browser opens a page in a headless browser, and collects the errors of the page. It skips the test if there is no
// browser.
func browser(t *testing.T, html []byte) (context.Context, func() []string) {
	t.Helper()
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
		}
	}
	if path == "" {
		t.Skip("no Chromium on this machine")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	allocated, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocated, chromedp.WithErrorf(func(string, ...any) {})) // events of a newer browser
	t.Cleanup(cancel)
	whole := ctx
	t.Cleanup(func() { _ = chromedp.Cancel(whole) }) // waits until it is gone; what it leaves is a temporary folder
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)

	var mu sync.Mutex
	var complaints []string
	complain := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		complaints = append(complaints, fmt.Sprintf(format, args...))
	}
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *log.EventEntryAdded:
			complain("%s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL)
		case *runtime.EventExceptionThrown:
			complain("exception: %s", e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			complain("console.%s", e.Type)
		case *page.EventJavascriptDialogOpening:
			complain("dialog: %s", e.Message)
		}
	})
	name := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, os.WriteFile(name, html, 0o600))
	require.NoError(t, chromedp.Run(ctx, chromedp.Navigate("file://"+name),
		chromedp.WaitReady("#phases button", chromedp.ByQuery)))
	return ctx, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return complaints
	}
}

const column = `[...document.querySelectorAll('#phases tbody tr:not([hidden])')].map(r => r.cells[%d].textContent)`

func TestPageInBrowser(t *testing.T) {
	var html bytes.Buffer
	require.NoError(t, sample(t).HTML(&html))
	ctx, complaints := browser(t, html.Bytes())

	var ids, names []string
	var headers int
	require.NoError(t, chromedp.Run(ctx,
		chromedp.Evaluate(`document.querySelectorAll('#phases thead button').length`, &headers),
		chromedp.Click("#phases thead th:last-child button", chromedp.ByQuery),
		chromedp.Evaluate(fmt.Sprintf(column, 10), &ids),
	))
	assert.Equal(t, 11, headers)
	assert.Equal(t, []string{"11", "10", "9", "8", "7", "6", "5", "4", "3", "2", "1", "0"}, ids,
		"numbers sort as numbers, most first")
	require.NoError(t, chromedp.Run(ctx, chromedp.Click("#phases thead th:last-child button", chromedp.ByQuery),
		chromedp.Evaluate(fmt.Sprintf(column, 10), &ids)))
	assert.Equal(t, "0", ids[0])

	var shown string
	require.NoError(t, chromedp.Run(ctx, chromedp.SendKeys("#filter", "map <script>", chromedp.ByQuery),
		chromedp.Evaluate(fmt.Sprintf(column, 0), &names), chromedp.Text("#shown", &shown, chromedp.ByQuery)))
	assert.Equal(t, []string{hostile + " map " + hostile}, names, "a hostile name is text")
	assert.Equal(t, "1 of 12", shown)
	assert.Empty(t, complaints())
}

// A figure shows the text of its most important bar. With the arrow keys it shows the text of every other bar: one
// key press shows the host and the cause of the slowest task.
func TestBarsAnswer(t *testing.T) {
	r := sample(t)
	first := r.Schedules[0].Before
	require.NotEmpty(t, first)
	var html bytes.Buffer
	require.NoError(t, r.HTML(&html))
	ctx, complaints := browser(t, html.Bytes())
	var told, afterKey, afterHover string
	var stops int
	require.NoError(t, chromedp.Run(ctx,
		chromedp.Text("article .asked", &told, chromedp.ByQuery),
		chromedp.Evaluate(`document.querySelectorAll('figure.ask svg[tabindex]').length`, &stops),
		chromedp.Focus("svg.gantt", chromedp.ByQuery), chromedp.KeyEvent("\ue014"), // the right arrow
		chromedp.Text("article .asked", &afterKey, chromedp.ByQuery),
		chromedp.Evaluate(`document.querySelectorAll('svg.gantt rect')[0]`+
			`.dispatchEvent(new PointerEvent('pointerover', {bubbles: true}))`, nil),
		chromedp.Text("article .asked", &afterHover, chromedp.ByQuery),
	))
	assert.Regexp(t, `^task \d+: .*from .* to .*straggler, cause: `, told)
	assert.Equal(t, told, afterKey, "the longest comes first")
	assert.Equal(t, first[0].String(), afterHover)
	assert.Equal(t, 1+2*len(r.Schedules), stops, "a stop a picture, not a bar")
	assert.Empty(t, complaints())
}

// The page has no violations of axe-core's rules for contrast, names, keyboard and structure. The variable AXE_CORE
// has the path of axe.min.js.
func TestPageIsAccessible(t *testing.T) {
	source := os.Getenv("AXE_CORE")
	if source == "" {
		t.Skip("AXE_CORE does not name axe.min.js")
	}
	script, err := os.ReadFile(source)
	require.NoError(t, err)
	var html bytes.Buffer
	require.NoError(t, sample(t).HTML(&html))
	ctx, _ := browser(t, html.Bytes())
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1280, 390} {
			dark := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}
			var violations []string
			var overflows bool
			var picture []byte
			require.NoError(t, chromedp.Run(ctx,
				emulation.SetEmulatedMedia().WithFeatures(dark), chromedp.EmulateViewport(width, 900),
				chromedp.Evaluate(string(script)+";0", nil),
				chromedp.Evaluate(`axe.run().then(r => r.violations.flatMap(v => v.nodes.map(n => v.id + ': ' + n.html.slice(0, 120))))`,
					&violations, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }),
				chromedp.Evaluate(`document.documentElement.scrollWidth > innerWidth`, &overflows),
				chromedp.FullScreenshot(&picture, 100),
			))
			assert.Empty(t, violations, "%s, %d wide", scheme, width)
			assert.False(t, overflows, "only tables scroll sideways: %d wide", width)
			if dir := os.Getenv("SCREENSHOTS"); dir != "" {
				require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("page-%s-%d.png", scheme, width)), picture, 0o600))
			}
		}
	}
}

// The largest possible page opens fast: no part of it grows with the square of the input.
func TestLargestPageOpens(t *testing.T) {
	r := sample(t)
	for len(r.Phases) < mostPhases {
		r.Phases = append(r.Phases, r.Phases[len(r.Phases)%10])
	}
	var html bytes.Buffer
	require.NoError(t, r.HTML(&html))
	ctx, complaints := browser(t, html.Bytes())
	var rows []string
	require.NoError(t, chromedp.Run(ctx, chromedp.Evaluate(fmt.Sprintf(column, 0), &rows)))
	assert.Len(t, rows, mostRows)
	assert.Empty(t, complaints(), strings.Join(complaints(), "\n"))
}
