// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// The names of the containers are those of the Pulumi operator.
const (
	// mainContainer executes the run.
	mainContainer = "pulumi"
	// copyContainer copies the controller, which the main container runs, into the pod.
	copyContainer = "bootstrap"
)

// defaultContainerAnnotation names the container that kubectl logs shows if it is given none.
const defaultContainerAnnotation = "kubectl.kubernetes.io/default-container"

// The volumes and their mount paths.
const (
	programVolume, programDir = "pulumi-controller", "/pulumi-controller"
	workVolume, workDir       = "pulumi-work", "/pulumi-work"
	tmpVolume, tmpDir         = "tmp", "/tmp"
	// pluginsDir is where a template may mount plugins.
	pluginsDir = "/pulumi-plugins"
	// accountDir is where Kubernetes mounts the token of the pod.
	accountDir = "/var/run/secrets/kubernetes.io/serviceaccount"
)

// nobody is the user of the controller's image, and has no more permissions in any other.
// The images of Pulumi run as root by default.
const nobody int64 = 65534

// basePod is the template of the pod before those of the administrator and of the Stack are
// merged into it.
func basePod(s Settings, r run.Run, account string) corev1.PodTemplateSpec {
	annotations := annotationsOf(r)
	annotations[defaultContainerAnnotation] = mainContainer
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labelsOf(r, s.Part), Annotations: annotations},
		Spec: corev1.PodSpec{
			// Never restart the container in the middle of a run: Pulumi would create
			// resources twice.
			RestartPolicy:                 corev1.RestartPolicyNever,
			ServiceAccountName:            account,
			AutomountServiceAccountToken:  ptr.To(true),
			Hostname:                      Name(r.ID),
			EnableServiceLinks:            ptr.To(false),
			NodeSelector:                  map[string]string{corev1.LabelOSStable: string(corev1.Linux)},
			TerminationGracePeriodSeconds: seconds(s.stopping()),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot:   ptr.To(true),
				RunAsUser:      ptr.To(nobody),
				RunAsGroup:     ptr.To(nobody),
				FSGroup:        ptr.To(nobody),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			InitContainers: []corev1.Container{copying(s)},
			Containers:     []corev1.Container{running(s, r)},
			Volumes:        []corev1.Volume{emptyDir(programVolume), emptyDir(workVolume), emptyDir(tmpVolume)},
		},
	}
}

// copying returns the container that copies the controller. The entrypoint of its image
// is the controller.
func copying(s Settings) corev1.Container {
	return corev1.Container{
		Name:            copyContainer,
		Image:           s.Image,
		ImagePullPolicy: s.PullPolicy,
		Args:            []string{"runner", "--copy-to=" + programDir},
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("32Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("256Mi")},
		},
		SecurityContext: restricted(),
		VolumeMounts:    []corev1.VolumeMount{{Name: programVolume, MountPath: programDir}},
		// The Stack reports the last log lines of the container if it fails.
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}
}

// running returns the container that executes the run.
func running(s Settings, r run.Run) corev1.Container {
	return corev1.Container{
		Name:            mainContainer,
		Image:           s.Image,
		ImagePullPolicy: s.PullPolicy,
		Command:         []string{programDir + "/pulumi-controller"},
		Args:            s.arguments(r),
		SecurityContext: restricted(),
		VolumeMounts: []corev1.VolumeMount{
			{Name: programVolume, MountPath: programDir, ReadOnly: true},
			{Name: workVolume, MountPath: workDir},
			{Name: tmpVolume, MountPath: tmpDir},
		},
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}
}

// withPodEnv puts the variables by which the runner knows its pod before those of the
// templates, which can refer to them but not set them.
func withPodEnv(env []corev1.EnvVar) []corev1.EnvVar {
	return slices.Concat([]corev1.EnvVar{ofPod("POD_NAME", "metadata.name"), ofPod("POD_UID", "metadata.uid")}, env)
}

func restricted() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: ptr.To(false),
		ReadOnlyRootFilesystem:   ptr.To(true),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

func ofPod(variable, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: variable, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: path}}}
}

func emptyDir(name string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}
}

// seconds rounds up to whole seconds.
func seconds(d time.Duration) *int64 { return ptr.To(int64(math.Ceil(d.Seconds()))) }
