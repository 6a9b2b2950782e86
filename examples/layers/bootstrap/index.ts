// The second layer: Flux on the cluster of the first one. It gives the application a
// namespace, and of the first layer's outputs only those that the application needs.
import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";

const config = new pulumi.Config();
const below = new pulumi.StackReference(config.require("cluster"));
const provider = new k8s.Provider("cluster", {
  kubeconfig: below.requireOutput("kubeconfig").apply(String),
});

// The feature gate, which install.yaml does not have, ends Flux's wait for a Stack that fails once there is a newer commit.
// With the kinds in the CRDs, Alerts and Receivers can name Stacks and Programs.
const flux = new k8s.yaml.v2.ConfigFile(
  "flux",
  { file: "https://github.com/fluxcd/flux2/releases/download/v2.9.5/install.yaml" },
  {
    provider,
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

// The team may create pods there, and the label keeps these off the node. WordPress runs as root, which restricted forbids.
const namespace = new k8s.core.v1.Namespace(
  "wordpress",
  { metadata: { name: "wordpress", labels: { "pod-security.kubernetes.io/enforce": "baseline" } } },
  { provider },
);

// What the application's Stack refers to. It never sees the kubeconfig.
const handedOn = new k8s.core.v1.Secret(
  "cluster",
  {
    metadata: { name: "cluster", namespace: namespace.metadata.name },
    stringData: {
      instanceName: below.requireOutput("instanceName").apply(String),
      instanceConnectionName: below.requireOutput("instanceConnectionName").apply(String),
      serviceAccountKey: below.requireOutput("serviceAccountKey").apply(String),
      passphrase: config.requireSecret("appPassphrase"),
    },
  },
  { provider },
);

// The hop to the third layer: what is in sync/ of the repository.
new k8s.yaml.v2.ConfigFile("sync", { file: "sync.yaml" }, { provider, dependsOn: [flux, handedOn] });
