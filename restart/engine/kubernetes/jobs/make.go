package jobs

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// podName returns the name of the pod that runs an attempt of index i. The name depends only on the Job, the index
// and the attempt. So a second request to make the same pod changes nothing. If the name of the Job is long, podName
// shortens it, so that the result has at most 63 characters.
func podName(job *batchv1.Job, i int, attempt string) string {
	h := fnv.New64a()
	h.Write([]byte(string(job.UID) + "/" + attempt))
	tail := fmt.Sprintf("-%d-%08x", i, h.Sum64()>>32)
	return job.Name[:min(len(job.Name), 63-len(tail))] + tail
}

// makePod returns the pod that runs an attempt of index i. It makes the pod from the Job's template, as the built-in
// controller does, and adds annotations about the attempt. avoid lists the names of nodes. If soft is false, the pod
// must not run on these nodes. If soft is true, the pod prefers other nodes. failures is how often the index has
// failed.
func makePod(job *batchv1.Job, i int, attempt string, avoid []string, soft bool, failures int) *v1.Pod {
	t := job.Spec.Template.DeepCopy()
	p := &v1.Pod{ObjectMeta: t.ObjectMeta, Spec: t.Spec}
	number, yes := strconv.Itoa(i), true // labels need a string, and owner references need a pointer to a bool
	p.Name, p.GenerateName, p.Namespace = podName(job, i, attempt), "", job.Namespace
	p.Labels = with(p.Labels, batchv1.JobNameLabel, job.Name, legacyNameLabel, job.Name, ManagedLabel, "true",
		batchv1.ControllerUidLabel, string(job.UID), legacyOwnerLabel, string(job.UID), indexAnnotation, number)
	p.Annotations = with(p.Annotations, indexAnnotation, number, AttemptAnnotation, attempt)
	if job.Spec.BackoffLimitPerIndex != nil {
		p.Annotations[countAnnotation] = strconv.Itoa(failures)
	}
	p.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "batch/v1", Kind: "Job", Name: job.Name, UID: job.UID, Controller: &yes, BlockOwnerDeletion: &yes,
	}}
	if !slices.Contains(p.Finalizers, finalizer) {
		p.Finalizers = append(p.Finalizers, finalizer)
	}
	host := job.Name + "-" + number
	p.Spec.Hostname = host[:min(len(host), 63)]
	for _, list := range [][]v1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for k := range list {
			addIndex(&list[k])
		}
	}
	// A pod that must avoid nodes may find no other node. It gets AvoidAnnotation, by which the function stuck finds
	// such a pod. A pod that only prefers other nodes never waits for this reason.
	if len(avoid) > 0 {
		p.Spec.Affinity = exclude(p.Spec.Affinity, avoid, soft)
		if !soft {
			p.Annotations[AvoidAnnotation] = strings.Join(avoid, ",")
		}
	}
	return p
}

// with adds keys and values to a map, and returns the map. pairs contains each key, followed by its value.
func with(m map[string]string, pairs ...string) map[string]string {
	if m == nil {
		m = make(map[string]string, len(pairs)/2)
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}

const indexVariable = "JOB_COMPLETION_INDEX" // environment variable that contains the pod's completion index

// addIndex adds the environment variable with the pod's completion index to a container, unless the container already
// has it.
func addIndex(c *v1.Container) {
	if slices.ContainsFunc(c.Env, func(e v1.EnvVar) bool { return e.Name == indexVariable }) {
		return
	}
	from := &v1.ObjectFieldSelector{FieldPath: fmt.Sprintf("metadata.labels['%s']", indexAnnotation)}
	c.Env = append(c.Env, v1.EnvVar{Name: indexVariable, ValueFrom: &v1.EnvVarSource{FieldRef: from}})
}

// isOf reports whether the owner of a pod is the Job with this UID.
func isOf(p *v1.Pod, job types.UID) bool {
	owner := metav1.GetControllerOfNoCopy(p)
	return owner != nil && owner.UID == job
}
