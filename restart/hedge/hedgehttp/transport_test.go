package hedgehttp_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/hedge"
	"github.com/straggler-go/straggler/restart/hedge/hedged"
	"github.com/straggler-go/straggler/restart/hedge/hedgehttp"
	"github.com/straggler-go/straggler/restart/hedge/hedgerules"
)

// TestMain fails if a goroutine of the package or of its tests outlives the tests by a second.
func TestMain(m *testing.M) {
	code := m.Run()
	stacks := make([]byte, 1<<20)
	for range 100 {
		left := string(stacks[:runtime.Stack(stacks, true)])
		_, left, _ = strings.Cut(left, "\n\n") // the goroutine of TestMain comes first
		if !strings.Contains(left, "restart/hedge/") {
			os.Exit(code)
		}
		time.Sleep(10 * time.Millisecond)
	}
	fmt.Printf("goroutines are left:\n%s\n", stacks[:runtime.Stack(stacks, true)])
	os.Exit(1)
}

// delay is after how long the tests send a second request.
const delay = 20 * time.Millisecond

// client returns a client of a server, and its route.
func client(t *testing.T, handler http.HandlerFunc) (*http.Client, *hedged.Route, string) {
	t.Helper()
	server := httptest.NewServer(handler)
	base := &http.Transport{}
	t.Cleanup(func() {
		base.CloseIdleConnections()
		server.Close()
	})
	rule, err := hedgerules.New(hedgerules.Fixed(delay))
	require.NoError(t, err)
	route := hedged.NewRoute(rule)
	return &http.Client{Transport: &hedgehttp.Transport{Route: route, Base: base}}, route, server.URL
}

// first returns a handler that calls slow for the first request and fast for every other.
func first(slow, fast http.HandlerFunc) http.HandlerFunc {
	var n atomic.Int32
	return func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) == 1 {
			slow(w, r)
			return
		}
		fast(w, r)
	}
}

// hang waits until the client has gone.
func hang(_ http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

func echo(w http.ResponseWriter, r *http.Request) {
	text, _ := io.ReadAll(r.Body)
	w.Write(text)
}

func say(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, text) }
}

func read(t *testing.T, r *http.Response, err error) string {
	t.Helper()
	require.NoError(t, err)
	text, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	require.NoError(t, r.Body.Close())
	return string(text)
}

// The second request answers, a large body can be read to its end, and the first request is cancelled.
func TestSecondRequestAnswers(t *testing.T) {
	gone := make(chan struct{})
	large := strings.Repeat("straggler ", 1<<18)
	c, _, url := client(t, first(func(w http.ResponseWriter, r *http.Request) {
		hang(w, r)
		close(gone)
	}, say(large)))
	r, err := c.Get(url)
	assert.Equal(t, large, read(t, r, err))
	<-gone
}

// A request that is not safe is sent once, and so are a body without GetBody and an upgrade.
func TestUnsafeRequestsAreSentOnce(t *testing.T) {
	for name, change := range map[string]func(r *http.Request){
		"POST":       func(r *http.Request) { r.Method = http.MethodPost },
		"no GetBody": func(r *http.Request) { r.Body, r.GetBody = io.NopCloser(strings.NewReader("x")), nil },
		"upgrade":    func(r *http.Request) { r.Header.Set("Upgrade", "websocket") },
	} {
		t.Run(name, func(t *testing.T) {
			var n atomic.Int32
			c, _, url := client(t, func(w http.ResponseWriter, r *http.Request) {
				n.Add(1)
				time.Sleep(2 * delay)
			})
			r, err := http.NewRequest(http.MethodGet, url, nil)
			require.NoError(t, err)
			change(r)
			response, err := c.Do(r)
			read(t, response, err)
			assert.Equal(t, int32(1), n.Load())
		})
	}
}

// Each attempt sends the whole body.
func TestBodyIsRewound(t *testing.T) {
	c, _, url := client(t, first(hang, echo))
	c.Transport.(*hedgehttp.Transport).Request = func(r *http.Request) hedge.Request {
		return hedge.Request{Safe: true, Size: float64(r.ContentLength)}
	}
	text := strings.Repeat("body ", 10_000)
	r, err := c.Post(url, "text/plain", bytes.NewReader([]byte(text)))
	assert.Equal(t, len(text), len(read(t, r, err)))

	request, err := http.NewRequest(http.MethodPost, url, strings.NewReader(text))
	require.NoError(t, err)
	request.GetBody = func() (io.ReadCloser, error) { return nil, errors.New("no more") }
	r, err = c.Do(request)
	assert.Equal(t, len(text), len(read(t, r, err)), "the first request answers")
}

// A refusal is no answer while the other request runs, and Retry-After stops second requests.
func TestRetryAfter(t *testing.T) {
	busy := func(after string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", after)
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}
	slow := func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(3 * delay)
		fmt.Fprint(w, "slow")
	}
	for _, after := range []string{"3600", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)} {
		c, route, url := client(t, first(slow, busy(after)))
		r, err := c.Get(url)
		assert.Equal(t, "slow", read(t, r, err))
		assert.Equal(t, http.StatusOK, r.StatusCode)
		id, d := route.Start(hedge.Request{Safe: true})
		time.Sleep(d.After)
		d = route.Late(id)
		assert.Equal(t, hedge.PushedBack, d.Reason)
		assert.InDelta(t, 3600, d.Value, 5)
		r, err = c.Get(url)
		require.NoError(t, err)
		r.Body.Close()
		assert.Equal(t, http.StatusServiceUnavailable, r.StatusCode, "the only response")
	}
	far, server := "99999999999", time.Now().Add(-time.Hour) // a server whose clock is an hour late
	soon := server.Add(time.Minute).UTC().Format(http.TimeFormat)
	for after, want := range map[string]float64{far: 1<<31 - 1, "-5": 0, soon: 60} {
		c, route, url := client(t, first(slow, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Date", server.UTC().Format(http.TimeFormat))
			busy(after)(w, r)
		}))
		r, err := c.Get(url)
		assert.Equal(t, "slow", read(t, r, err))
		id, d := route.Start(hedge.Request{Safe: true})
		time.Sleep(d.After)
		assert.InDelta(t, want, max(route.Late(id).Value, delay.Seconds())-delay.Seconds(), 5, after)
	}
	c, route, url := client(t, first(slow, busy("rubbish")))
	r, err := c.Get(url)
	assert.Equal(t, "slow", read(t, r, err))
	id, d := route.Start(hedge.Request{Safe: true})
	time.Sleep(d.After)
	assert.Equal(t, hedge.Late, route.Late(id).Reason)
}

// tripper is a RoundTripper for requests that need no network.
type tripper func(r *http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// through returns a transport that sends its requests through f.
func through(t *testing.T, f tripper) *hedgehttp.Transport {
	t.Helper()
	rule, err := hedgerules.New(hedgerules.Fixed(delay))
	require.NoError(t, err)
	return &hedgehttp.Transport{Route: hedged.NewRoute(rule), Base: f}
}

// closer counts the bodies that are closed.
type closer struct {
	io.Reader
	closed *atomic.Int32
}

func (c closer) Close() error { c.closed.Add(1); return nil }

// A request whose context has ended is not sent, and its body is closed.
func TestAnEndedContext(t *testing.T) {
	var closed atomic.Int32
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://example.com/", closer{strings.NewReader("x"), &closed})
	require.NoError(t, err)
	_, err = through(t, func(*http.Request) (*http.Response, error) {
		t.Error("the request is sent")
		return nil, nil
	}).RoundTrip(r)
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, int32(1), closed.Load())
}

// A request without a route is not sent, and its body is closed.
func TestWithoutARoute(t *testing.T) {
	var closed atomic.Int32
	r, err := http.NewRequest(http.MethodPost, "http://example.com/", closer{strings.NewReader("x"), &closed})
	require.NoError(t, err)
	_, err = new(hedgehttp.Transport).RoundTrip(r)
	require.ErrorContains(t, err, "Transport.Route is nil")
	assert.Equal(t, int32(1), closed.Load())
}

// The body of the loser is closed, also if it comes after the winner's.
func TestTheLosersBodyIsClosed(t *testing.T) {
	var closed atomic.Int32
	c := &http.Client{Transport: through(t, func(r *http.Request) (*http.Response, error) {
		if _, second := hedged.Second(r.Context()); !second {
			time.Sleep(4 * delay) // and ignores that it is cancelled
		}
		return &http.Response{StatusCode: 200, Body: closer{strings.NewReader("x"), &closed}}, nil
	})}
	r, err := c.Get("http://example.com:99/")
	assert.Equal(t, "x", read(t, r, err))
	assert.Equal(t, int32(1), closed.Load())
	assert.Eventually(t, func() bool { return closed.Load() == 2 }, 10*time.Second, time.Millisecond)
}

// The caller may change its request for another use when it has the response: the loser has a request of its own.
func TestTheRequestMayBeUsedAgain(t *testing.T) {
	var late sync.WaitGroup
	late.Add(1)
	transport := through(t, func(r *http.Request) (*http.Response, error) {
		if _, second := hedged.Second(r.Context()); !second {
			defer late.Done()
			<-r.Context().Done()
			for range 1000 {
				r.Header.Get("Accept")
			}
			return nil, r.Context().Err()
		}
		return &http.Response{StatusCode: 200}, nil // and no body
	})
	r, err := http.NewRequest(http.MethodGet, "http://example.com/", nil)
	require.NoError(t, err)
	response, err := transport.RoundTrip(r)
	require.NoError(t, err)
	r.Header.Set("Accept", "text/plain")
	assert.NoError(t, response.Body.Close())
	late.Wait()
}

// The context of the request ends when the body has been read, also if the caller does not close it.
func TestReadToTheEnd(t *testing.T) {
	var run context.Context
	transport := through(t, func(r *http.Request) (*http.Response, error) {
		run = r.Context()
		return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader("x"))}, nil
	})
	r, err := http.NewRequest(http.MethodGet, "http://example.com/", nil)
	require.NoError(t, err)
	response, err := transport.RoundTrip(r)
	require.NoError(t, err)
	assert.NoError(t, run.Err())
	_, err = io.ReadAll(response.Body)
	require.NoError(t, err)
	assert.Error(t, run.Err())
}

// A request whose context ends returns the error of the context.
func TestCancelledByTheCaller(t *testing.T) {
	c, _, url := client(t, hang)
	ctx, cancel := context.WithTimeout(t.Context(), 3*delay)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	require.NoError(t, err)
	_, err = c.Do(r)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// A connection that switches protocols can be written to.
func TestUpgrade(t *testing.T) {
	c, _, url := client(t, func(w http.ResponseWriter, r *http.Request) {
		conn, buffer, err := http.NewResponseController(w).Hijack()
		if !assert.NoError(t, err) {
			return
		}
		defer conn.Close()
		fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		line, _ := buffer.ReadString('\n')
		fmt.Fprint(conn, line)
	})
	r, err := http.NewRequest(http.MethodGet, url, nil)
	require.NoError(t, err)
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "echo")
	response, err := c.Do(r)
	require.NoError(t, err)
	_, err = fmt.Fprintln(response.Body.(io.Writer), "hello")
	require.NoError(t, err)
	assert.Equal(t, "hello\n", read(t, response, nil))
}
