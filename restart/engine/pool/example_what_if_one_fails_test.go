package pool_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/straggler-go/straggler/restart/engine/pool"
)

// One page is missing. The loop receives the error of this page, and all other pages. Map would return the error
// alone. With a single goroutine, the pages come in the order of the URLs.
func ExampleEach() {
	urls := []string{"/a", "/missing", "/b"}
	fetch := func(_ context.Context, url string) (string, error) {
		if url == "/missing" {
			return "", errors.New("404")
		}
		return "page " + url, nil
	}
	for i, r := range pool.Each(context.Background(), urls, fetch, pool.Goroutines(1)) {
		fmt.Printf("%s: %q, error %v\n", urls[i], r.Value, r.Err)
	}
	// Output:
	// /a: "page /a", error <nil>
	// /missing: "", error 404
	// /b: "page /b", error <nil>
}
