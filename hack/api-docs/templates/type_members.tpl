{{- define "type_members" -}}
{{- $field := . -}}
{{- if eq $field.Name "metadata" -}}
The name, namespace, labels and annotations of the object.
{{- else -}}
{{ $field.Doc | replace "<" "&lt;" | markdownRenderFieldDoc | replace "<br /><br />" "\n" | replace "<br />" " " | replace "\n" "<br />" }}
{{- range $field.Validation }}{{ if hasPrefix "Required" . }} Required.{{ end }}{{ end }}
{{- end -}}
{{- end -}}
