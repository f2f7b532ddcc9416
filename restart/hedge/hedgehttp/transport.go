package hedgehttp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/straggler-go/straggler/restart/hedge"
	"github.com/straggler-go/straggler/restart/hedge/hedged"
)

// Transport is an http.RoundTripper that may send a request twice. It is safe for concurrent use.
type Transport struct {
	// Route decides. If it is nil, every request fails.
	Route *hedged.Route
	// Base sends the requests; nil means http.DefaultTransport.
	Base http.RoundTripper
	// Request returns the facts about a request: its class, its size, and whether it may be sent twice. Nil means that
	// GET and HEAD requests may be sent twice.
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
	hasBody := r.Body != nil && r.Body != http.NoBody
	err := context.Cause(r.Context())
	if t.Route == nil {
		err = errors.New("hedgehttp: Transport.Route is nil, want the result of hedged.NewRoute")
	}
	if err != nil { // no attempt is sent, and none closes the body
		if hasBody {
			r.Body.Close()
		}
		return nil, err
	}
	if hasBody && r.GetBody == nil || r.Header.Get("Upgrade") != "" {
		facts.Safe = false
	}
	first, again := r, r
	if facts.Safe { // the loser may still be sent when the caller changes the request for another use
		first, again = r.Clone(r.Context()), r.Clone(r.Context())
	}
	call := hedged.Call[*http.Response]{
		Request: facts,
		Run: func(ctx context.Context) (*http.Response, error) {
			if _, second := hedged.Second(ctx); !second {
				return t.send(base, first.WithContext(ctx))
			}
			attempt := again.WithContext(ctx)
			if hasBody {
				body, err := again.GetBody()
				if err != nil {
					return nil, err
				}
				attempt.Body = body
			}
			return t.send(base, attempt)
		},
		Failed:  func(r *http.Response) bool { return refused(r.StatusCode) },
		Discard: discard,
	}
	response, end, err := call.Race(r.Context(), t.Route)
	if err != nil {
		end()
		return nil, err
	}
	response.Body = body(response.Body, end)
	return response, nil
}

// send sends an attempt, and stops second requests if the response asks for a pause.
func (t *Transport) send(base http.RoundTripper, r *http.Request) (*http.Response, error) {
	response, err := base.RoundTrip(r)
	if err == nil && refused(response.StatusCode) {
		t.pushBack(response)
	}
	return response, err
}

// discard closes the body of a response that is not returned. A RoundTripper may return none.
func discard(r *http.Response) {
	if r.Body != nil {
		r.Body.Close()
	}
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
	// A number that is too large becomes the largest one.
	if seconds, err := strconv.ParseInt(after, 10, 32); err == nil || errors.Is(err, strconv.ErrRange) {
		t.Route.PushBack(time.Duration(seconds) * time.Second)
	} else if until, err := http.ParseTime(after); err == nil {
		now, err := http.ParseTime(r.Header.Get("Date")) // the clock of the server, which may be wrong
		if err != nil {
			now = time.Now()
		}
		t.Route.PushBack(until.Sub(now))
	}
}

// body returns a body that ends the context of its request when it is closed or has been read.
func body(b io.ReadCloser, end context.CancelFunc) io.ReadCloser {
	if b == nil || b == http.NoBody {
		end()
		return http.NoBody
	}
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

// Read reads the body. After its end or an error, nothing more of the request is needed.
func (b *ending) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.end()
	}
	return n, err
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
