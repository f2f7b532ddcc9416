package cluster

import (
	"context"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"testing"
	"time"
)

func TestServer(t *testing.T) {
	t0 := time.Now()
	s, err := NewServer(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Log("new", time.Since(t0))
	for range 3 {
		t0 = time.Now()
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		t.Log("start", time.Since(t0))
		c, err := client.Dial(client.Options{HostPort: s.Address(), Namespace: Namespace})
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.WorkflowService().DescribeNamespace(context.Background(), &workflowservice.DescribeNamespaceRequest{Namespace: Namespace})
		t.Log(r.GetNamespaceInfo(), err, time.Since(t0))
		we, err := c.ExecuteWorkflow(context.Background(), client.StartWorkflowOptions{TaskQueue: "q"}, "foo")
		t.Log(we, err, time.Since(t0))
		t0 = time.Now()
		c.Close()
		t.Log(s.Stop(), time.Since(t0))
	}
}
