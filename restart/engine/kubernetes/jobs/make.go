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

// podName names the pod of an attempt: always the same one, so that to make it again changes nothing. A Job's name and
// an index fit into the name of a host; what is longer is cut.
func podName(job *batchv1.Job, i int, attempt string) string {
	h := fnv.New64a()
	h.Write([]byte(string(job.UID) + "/" + attempt))
	tail := fmt.Sprintf("-%d-%08x", i, h.Sum64()>>32)
	return job.Name[:min(len(job.Name), 63-len(tail))] + tail
}

// makePod makes the pod of an attempt from the Job's template, as the built-in controller does, with the names of an
// attempt besides. avoid are nodes on which it must not run, or, if soft, need not.
func makePod(job *batchv1.Job, i int, attempt string, avoid []string, soft bool, failures int) *v1.Pod {
	t := job.Spec.Template.DeepCopy()
	p := &v1.Pod{ObjectMeta: t.ObjectMeta, Spec: t.Spec}
	number, yes := strconv.Itoa(i), true
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
	if len(avoid) > 0 {
		p.Spec.Affinity = exclude(p.Spec.Affinity, avoid, soft)
		if !soft {
			p.Annotations[AvoidAnnotation] = strings.Join(avoid, ",")
		}
	}
	return p
}

// with adds pairs of keys and values to a map.
func with(m map[string]string, pairs ...string) map[string]string {
	if m == nil {
		m = make(map[string]string, len(pairs)/2)
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}

const indexVariable = "JOB_COMPLETION_INDEX"

// addIndex gives a container its index, unless its template does.
func addIndex(c *v1.Container) {
	if slices.ContainsFunc(c.Env, func(e v1.EnvVar) bool { return e.Name == indexVariable }) {
		return
	}
	from := &v1.ObjectFieldSelector{FieldPath: fmt.Sprintf("metadata.labels['%s']", indexAnnotation)}
	c.Env = append(c.Env, v1.EnvVar{Name: indexVariable, ValueFrom: &v1.EnvVarSource{FieldRef: from}})
}

// isOf reports whether a pod belongs to the Job of a UID.
func isOf(p *v1.Pod, job types.UID) bool {
	owner := metav1.GetControllerOfNoCopy(p)
	return owner != nil && owner.UID == job
}
