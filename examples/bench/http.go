package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/cristalhq/hedgedhttp"
	"github.com/failsafe-go/failsafe-go/failsafehttp"
	"github.com/failsafe-go/failsafe-go/hedgepolicy"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/straggler-go/straggler/restart/hedge"
	"github.com/straggler-go/straggler/restart/hedge/hedged"
	"github.com/straggler-go/straggler/restart/hedge/hedgehttp"
)

// servers is the number of servers of a protocol. Server 0 is slow.
const servers = 4

// spreader sends each attempt to a server that is drawn at random, but not to the server to avoid.
type spreader struct {
	hosts []string
	base  http.RoundTripper
}

func (s *spreader) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	avoid, second := hedged.Second(r.Context())
	host := r.Header.Get("First") // empty for a library that does not tell the host of the first request
	for host == "" || second && host == avoid {
		host = s.hosts[rand.IntN(len(s.hosts))]
	}
	r.URL.Host = host
	r.Header.Del("First")
	return s.base.RoundTrip(r)
}

// config is the configuration of our own rule.
var config = hedge.Config{Budget: budgetShare}

// startHTTP starts four net/http servers.
func startHTTP(w *work) ([]library, func(), error) {
	return startHandlers(w, func(int) (http.Handler, error) {
		return http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) { fmt.Fprint(out, "hello") }), nil
	}, "/", "hello", nil)
}

// startS3 starts four S3 servers with the same object. A request reads a part of the object.
func startS3(w *work) ([]library, func(), error) {
	const from, to = 1 << 16, 1<<17 - 1
	object := strings.Repeat("straggler!", 1<<15)
	return startHandlers(w, func(int) (http.Handler, error) {
		backend := s3mem.New()
		if err := backend.CreateBucket("bucket"); err != nil {
			return nil, err
		}
		_, err := backend.PutObject("bucket", "object", nil, strings.NewReader(object), int64(len(object)), nil)
		return gofakes3.New(backend).Server(), err
	}, "/bucket/object", object[from:to+1], http.Header{"Range": {fmt.Sprintf("bytes=%d-%d", from, to)}})
}

// startHandlers starts four servers with a handler each, and returns the libraries that ask them for a path.
func startHandlers(
	w *work, handler func(server int) (http.Handler, error), path, want string, header http.Header,
) ([]library, func(), error) {
	base := &http.Transport{MaxIdleConnsPerHost: 1000}
	spread := &spreader{base: base}
	var list []*httptest.Server
	stop := func() {
		base.CloseIdleConnections()
		for _, s := range list {
			s.Close()
		}
	}
	for i := range servers {
		h, err := handler(i)
		if err != nil {
			stop()
			return nil, nil, err
		}
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			if w.serve(r.Context(), i); r.Context().Err() == nil {
				h.ServeHTTP(out, r)
			}
		}))
		server.Config.ErrorLog = log.New(io.Discard, "", 0) // the S3 server complains about cancelled requests
		server.Start()
		list = append(list, server)
		spread.hosts = append(spread.hosts, strings.TrimPrefix(list[i].URL, "http://"))
	}
	rule, err := hedge.New(config)
	if err != nil {
		stop()
		return nil, nil, err
	}
	fixed, err := hedgedhttp.NewRoundTripper(fixedDelay, 2, spread)
	if err != nil {
		stop()
		return nil, nil, err
	}
	moving := hedgepolicy.NewWithDelayQuantile[*http.Response](quantile, 1000, 100)
	after := hedgepolicy.NewWithDelay[*http.Response](fixedDelay)
	get := func(t http.RoundTripper, first func() string) ask {
		return func(ctx context.Context) error {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://service"+path, nil)
			if err != nil {
				return err
			}
			if header != nil {
				r.Header = header.Clone()
			}
			if first != nil {
				r.Header.Set("First", first())
			}
			response, err := t.RoundTrip(r)
			if err != nil {
				return err
			}
			defer response.Body.Close()
			text, err := io.ReadAll(response.Body)
			if err == nil && string(text) != want {
				err = fmt.Errorf("%s: %d bytes, want %d", response.Status, len(text), len(want))
			}
			return err
		}
	}
	ours := &hedgehttp.Transport{Route: hedged.NewRoute(rule), Base: spread, Request: func(r *http.Request) hedge.Request {
		return hedge.Request{Safe: true, Machine: r.Header.Get("First")}
	}}
	return []library{
		{"none", get(spread, nil)},
		{"Hedger", get(ours, func() string { return spread.hosts[rand.IntN(servers)] })},
		{"failsafe-go, quantile 0.75", get(failsafehttp.NewRoundTripper(spread, moving), nil)},
		{"failsafe-go, 8 ms", get(failsafehttp.NewRoundTripper(spread, after), nil)},
		{"hedgedhttp, 8 ms", get(fixed, nil)},
	}, stop, nil
}
