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

// podName returns the name of an attempt's pod. The name depends only on the Job and the attempt, so that a second
// attempt to make the pod changes nothing. A long name of a Job is cut, so that the result has at most 63 characters.
func podName(job *batchv1.Job, i int, attempt string) string {
	h := fnv.New64a()
	h.Write([]byte(string(job.UID) + "/" + attempt))
	tail := fmt.Sprintf("-%d-%08x", i, h.Sum64()>>32)
	return job.Name[:min(len(job.Name), 63-len(tail))] + tail
}

// makePod makes the pod of an attempt from the Job's template, as the built-in controller does, and adds the attempt's
// annotations. The pod must not run on the nodes in avoid. If soft is true, it only prefers other nodes. failures is how
// often the index has failed.
func makePod(job *batchv1.Job, i int, attempt string, avoid []string, soft bool, failures int) *v1.Pod {
	t := job.Spec.Template.DeepCopy()
	p := &v1.Pod{ObjectMeta: t.ObjectMeta, Spec: t.Spec}
	number, yes := strconv.Itoa(i), true // labels and owner references need strings and pointers
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
	// AvoidAnnotation marks a pod that may find no node; see stuck. A preference never keeps a pod waiting.
	if len(avoid) > 0 {
		p.Spec.Affinity = exclude(p.Spec.Affinity, avoid, soft)
		if !soft {
			p.Annotations[AvoidAnnotation] = strings.Join(avoid, ",")
		}
	}
	return p
}

// with adds pairs of keys and values to a map, and returns the map.
func with(m map[string]string, pairs ...string) map[string]string {
	if m == nil {
		m = make(map[string]string, len(pairs)/2)
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}

const indexVariable = "JOB_COMPLETION_INDEX" // the environment variable with the pod's index

// addIndex adds the index to a container's environment, unless the template has done so.
func addIndex(c *v1.Container) {
	if slices.ContainsFunc(c.Env, func(e v1.EnvVar) bool { return e.Name == indexVariable }) {
		return
	}
	from := &v1.ObjectFieldSelector{FieldPath: fmt.Sprintf("metadata.labels['%s']", indexAnnotation)}
	c.Env = append(c.Env, v1.EnvVar{Name: indexVariable, ValueFrom: &v1.EnvVarSource{FieldRef: from}})
}

// isOf reports whether a pod belongs to the Job with a UID.
func isOf(p *v1.Pod, job types.UID) bool {
	owner := metav1.GetControllerOfNoCopy(p)
	return owner != nil && owner.UID == job
}
