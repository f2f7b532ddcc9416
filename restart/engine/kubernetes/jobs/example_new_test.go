package jobs_test

import (
	"context"
	"log"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine/kubernetes/jobs"
)

// A program runs the Jobs of one namespace. It allows at most one restart of each index, and taints slow nodes for
// half an hour.
func ExampleNew() {
	config, err := rest.InClusterConfig()
	if err != nil {
		log.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		log.Fatal(err)
	}
	controller, err := jobs.New(jobs.Config{
		Client:    client,
		Namespace: "nightly",
		Limits:    restart.Limits{Restarts: 1},
		Taint:     jobs.Taint{Effect: v1.TaintEffectPreferNoSchedule, For: 30 * time.Minute},
	})
	if err != nil {
		log.Fatal(err) // the error contains the name of the field that is out of range
	}
	log.Fatal(controller.Run(context.Background())) // only one process at a time
}
