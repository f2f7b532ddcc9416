// Package hedgehttp sends an HTTP request a second time if that is worth it. A rule of package hedge decides.
//
//	rule, err := hedge.New(hedge.Config{Percentile: 0.99, Budget: 0.05})
//	client := &http.Client{Transport: &hedgehttp.Transport{Route: hedged.NewRoute(rule)}}
//
// The time of a request is the time until the header of its response has come. The body of the response that is
// returned can be read as usual. The body of the other response is closed.
//
// # Which requests
//
// GET and HEAD requests may be sent twice, because they change nothing on the server [RFC 9110 §9.2.1]. Set
// Transport.Request to allow others, and to tell the class and the size of a request. A request with a body is sent
// twice only if it has GetBody, by which each attempt gets a body of its own. A request for an upgrade, such as to a
// web socket, is sent once.
//
// # Where the second request goes
//
// The second request has the same URL. If the servers have one name, a load balancer or the dialer chooses another one.
// If the client chooses, its RoundTripper says by hedged.Chose(request.Context(), server) which server it has chosen,
// and asks hedged.Second(request.Context()) which server to avoid. The host of the URL is no such choice. Without Chose
// the second request goes to the slow server again in one of n cases, and the rule learns that it helps less.
//
// # When the server is busy
//
// A response with the status 429 or 503 and a header Retry-After stops all second requests of the route for that long.
// A response with the status 429 or from 500 on is no answer: if the other request runs, its response is awaited.
package hedgehttp
