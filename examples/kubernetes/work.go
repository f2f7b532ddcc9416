package main

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/straggler-go/straggler/examples/kubernetes/internal/plane"
	"github.com/straggler-go/straggler/restart/engine/kubernetes/jobs"
)

// work runs in a pod. It works on a number of units, and then writes its result to a file of this attempt. It reports
// its progress in an annotation of the pod, as a container with the right to patch pods would.
func work(args []string) error {
	f := flag.NewFlagSet("work", flag.ContinueOnError)
	units := f.Int("units", usualUnits, "how much there is to do")
	from := f.Int("from", 1<<30, "the index from which on there is five times as much")
	every := f.Duration("every", 400*time.Millisecond, "how long from one report to the next, at least")
	share := f.Bool("share", false, "say what share is done, and not of how much")
	hang := f.Int("hang", -1, "the index of which the first pod hangs half way")
	if err := f.Parse(args); err != nil {
		return err
	}
	index, err := strconv.Atoi(os.Getenv("JOB_COMPLETION_INDEX"))
	if err != nil {
		return err
	}
	out, pod := os.Getenv("OUT"), os.Getenv("POD_NAME")
	n := *units
	if index >= *from {
		n *= 5
	}
	sum, last := []byte(strconv.Itoa(index)), time.Now()
	for i := range n {
		time.Sleep(unit)
		for range 100 {
			h := sha256.Sum256(sum)
			sum = h[:]
		}
		if index == *hang && i == n/2 {
			if mark, err := os.OpenFile(filepath.Join(out, "hung"), os.O_CREATE|os.O_EXCL, 0o600); err == nil {
				mark.Close()
				select {}
			}
		}
		if time.Since(last) > *every {
			last = time.Now()
			text := fmt.Sprintf("%d/%d", i+1, n)
			if *share {
				text = fmt.Sprintf("%.3f", float64(i+1)/float64(n))
			}
			report(pod, text)
		}
	}
	return os.WriteFile(filepath.Join(out, pod), fmt.Appendf(nil, "%d %x\n", index, sum), 0o600)
}

const unit = 50 * time.Millisecond

var client = http.Client{
	Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, Timeout: 2 * time.Second,
}

// report reports the progress of a pod. An error is ignored, because the next report replaces this one.
func report(pod, text string) {
	text += fmt.Sprintf("@%.3f", float64(time.Now().UnixMilli())/1000)
	body := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, jobs.ProgressAnnotation, text)
	request, err := http.NewRequest(http.MethodPatch,
		os.Getenv("API")+"/api/v1/namespaces/default/pods/"+pod, bytes.NewReader([]byte(body)))
	if err != nil {
		return
	}
	request.Header.Set("Content-Type", "application/merge-patch+json")
	request.Header.Set("Authorization", "Bearer "+plane.Token)
	if response, err := client.Do(request); err == nil {
		response.Body.Close()
	}
}

// result returns the result of a pod of the index.
func result(index, units int) string {
	sum := []byte(strconv.Itoa(index))
	for range units * 100 {
		h := sha256.Sum256(sum)
		sum = h[:]
	}
	return fmt.Sprintf("%d %x\n", index, sum)
}
