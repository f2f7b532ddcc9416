package hedgehttp

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/straggler-go/straggler/restart/hedge"
	"github.com/straggler-go/straggler/restart/hedge/hedged"
)

// Transport is an http.RoundTripper that may send a request twice. It is safe for concurrent use.
type Transport struct {
	// Route decides. It must not be nil.
	Route *hedged.Route
	// Base sends the requests; nil means http.DefaultTransport.
	Base http.RoundTripper
	// Request returns the facts about a request: its class, its size, and whether it may be sent twice. Nil means that
	// GET and HEAD requests may be sent twice. An empty Machine becomes the host of the URL.
	Request func(r *http.Request) hedge.Request
}

// RoundTrip sends the request, and a second time if the rule of the route wants it. It returns the first answer, as
// package hedgehttp explains.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	base := t.Base
	if base == nil {
		base = http.DefaultTransport
	}
	facts := hedge.Request{Safe: r.Method == "" || r.Method == http.MethodGet || r.Method == http.MethodHead}
	if t.Request != nil {
		facts = t.Request(r)
	}
	if facts.Machine == "" {
		facts.Machine = r.URL.Host
	}
	hasBody := r.Body != nil && r.Body != http.NoBody
	if hasBody && r.GetBody == nil || r.Header.Get("Upgrade") != "" {
		facts.Safe = false
	}
	call := hedged.Call[*http.Response]{
		Request: facts,
		Run: func(ctx context.Context) (*http.Response, error) {
			attempt := r.WithContext(ctx)
			if _, second := hedged.Second(ctx); second {
				attempt = r.Clone(ctx) // each attempt may change its own headers
				if hasBody {
					body, err := r.GetBody()
					if err != nil {
						return nil, err
					}
					attempt.Body = body
				}
			}
			response, err := base.RoundTrip(attempt)
			if err == nil && refused(response.StatusCode) {
				t.pushBack(response)
			}
			return response, err
		},
		Failed:  func(r *http.Response) bool { return refused(r.StatusCode) },
		Discard: func(r *http.Response) { r.Body.Close() },
	}
	response, end, err := call.Race(r.Context(), t.Route)
	if err != nil {
		end()
		return nil, err
	}
	response.Body = body(response.Body, end)
	return response, nil
}

// refused reports whether a status says that the server has not served the request.
func refused(status int) bool {
	return status == http.StatusTooManyRequests || status >= http.StatusInternalServerError
}

// pushBack stops second requests for as long as a response asks.
func (t *Transport) pushBack(r *http.Response) {
	if r.StatusCode != http.StatusTooManyRequests && r.StatusCode != http.StatusServiceUnavailable {
		return
	}
	after := r.Header.Get("Retry-After")
	if seconds, err := strconv.ParseInt(after, 10, 32); err == nil {
		t.Route.PushBack(time.Duration(seconds) * time.Second)
	} else if at, err := http.ParseTime(after); err == nil {
		t.Route.PushBack(time.Until(at))
	}
}

// body returns a body that ends the context of its request when it is closed or has been read.
func body(b io.ReadCloser, end context.CancelFunc) io.ReadCloser {
	if w, ok := b.(io.ReadWriteCloser); ok { // the connection after an upgrade
		return &connection{w, end}
	}
	return &ending{b, end}
}

// ending is the body of a response.
type ending struct {
	io.ReadCloser
	end context.CancelFunc
}

// Close closes the body, and ends the context of its request.
func (b *ending) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}

// connection is the body of a response to an upgrade.
type connection struct {
	io.ReadWriteCloser
	end context.CancelFunc
}

// Close closes the connection, and ends the context of its request.
func (c *connection) Close() error {
	defer c.end()
	return c.ReadWriteCloser.Close()
}
