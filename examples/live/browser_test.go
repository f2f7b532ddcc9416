package main

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// In a browser the page brings itself up to date, without an error, and is not wider than a phone.
func TestThePageInABrowser(t *testing.T) {
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no Chromium on this machine")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	address := make(chan string, 1)
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, nil, func(a string) { address <- a }) }()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.WindowSize(390, 800))
	allocated, stop := chromedp.NewExecAllocator(ctx, options...)
	defer stop()
	tab, stop := chromedp.NewContext(allocated, chromedp.WithErrorf(func(string, ...any) {}))
	defer stop()
	faults := make(chan string, 10)
	chromedp.ListenTarget(tab, func(event any) {
		if e, ok := event.(*runtime.EventExceptionThrown); ok {
			faults <- e.ExceptionDetails.Error()
		}
	})
	var first, later string
	var width int64
	require.NoError(t, chromedp.Run(tab,
		chromedp.Navigate(<-address), chromedp.InnerHTML("#part", &first), chromedp.Sleep(6*time.Second),
		chromedp.InnerHTML("#part", &later), chromedp.Evaluate("document.documentElement.scrollWidth", &width),
	))
	assert.NotEqual(t, first, later, "the page brings itself up to date")
	assert.True(t, strings.Contains(later, "tasks have ended"))
	assert.LessOrEqual(t, width, int64(500), "no wider than the narrowest window of Chromium")
	assert.Empty(t, faults)
	cancel()
	<-ended
}
