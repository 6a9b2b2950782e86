// Installs Flux, and has it follow a git repository. From then on whatever is wanted in the
// cluster is committed there, pulumi-controller and its Stacks included.
import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";

const config = new pulumi.Config();
const version = config.get("fluxVersion") ?? "v2.9.5";

// The cluster is that of the kubeconfig, as with kubectl. The feature gate, which install.yaml does not have, ends
// Flux's wait for a Stack that fails once there is a newer commit. With the kinds in the CRDs, Alerts and Receivers can
// name Stacks and Programs.
const flux = new k8s.yaml.v2.ConfigFile(
  "flux",
  { file: `https://github.com/fluxcd/flux2/releases/download/${version}/install.yaml` },
  {
    transforms: [
      ({ type, props, opts }) => {
        if (type === "kubernetes:apps/v1:Deployment" && props.metadata.name === "kustomize-controller") {
          props.spec.template.spec.containers[0].args.push("--feature-gates=CancelHealthCheckOnNewRevision=true");
        }
        if (type.endsWith(":CustomResourceDefinition") && ["Alert", "Receiver"].includes(props.spec.names.kind)) {
          for (const { schema } of props.spec.versions) {
            const { eventSources, resources } = schema.openAPIV3Schema.properties.spec.properties;
            (eventSources ?? resources).items.properties.kind.enum.push("Stack", "Program");
          }
        }
        return { props, opts };
      },
    ],
  },
);

// What Flux reads the repository with. A public one needs no token, and no secretRef in sync.yaml.
const git = new k8s.core.v1.Secret(
  "git",
  {
    metadata: { name: "flux-system", namespace: "flux-system" },
    stringData: { username: "git", password: config.requireSecret("gitToken") },
  },
  { dependsOn: flux },
);

// Where Flux takes the rest from: sync.yaml has a GitRepository and a Kustomization.
new k8s.yaml.v2.ConfigFile("sync", { file: "sync.yaml" }, { dependsOn: [flux, git] });
