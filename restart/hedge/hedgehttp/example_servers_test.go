package hedgehttp_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/straggler-go/straggler/restart/hedge/hedged"
	"github.com/straggler-go/straggler/restart/hedge/hedgehttp"
	"github.com/straggler-go/straggler/restart/hedge/hedgerules"
)

// servers is an http.RoundTripper of a client that chooses among several servers.
type servers []string

// RoundTrip sends the request to the first server that it need not avoid.
func (s servers) RoundTrip(r *http.Request) (*http.Response, error) {
	avoid, _ := hedged.Second(r.Context())
	for _, server := range s {
		if server != avoid {
			hedged.Chose(r.Context(), server)
			r = r.Clone(r.Context()) // a RoundTripper must not change the request
			r.URL.Host = server
			return http.DefaultTransport.RoundTrip(r)
		}
	}
	return nil, fmt.Errorf("no server but %s", avoid)
}

// How does a client that chooses its server send the second request to another one?
func ExampleTransport_servers() {
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	fast := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }))
	defer slow.Close()
	defer fast.Close()
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()

	rule, err := hedgerules.New(hedgerules.Fixed(10 * time.Millisecond)) // or hedge.New(hedge.Config{})
	if err != nil {
		panic(err)
	}
	pool := servers{strings.TrimPrefix(slow.URL, "http://"), strings.TrimPrefix(fast.URL, "http://")}
	client := &http.Client{Transport: &hedgehttp.Transport{Route: hedged.NewRoute(rule), Base: pool}}
	response, err := client.Get("http://pages/index.html")
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	fmt.Println(string(text))
	// Output: hello
}
