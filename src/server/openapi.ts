import type { App } from "./routes/route.ts";

export function describeApi(app: App, version: string) {
  app.openAPIRegistry.registerComponent("securitySchemes", "token", {
    type: "http",
    scheme: "bearer",
    description: "The token in the file api-token of the state directory, or MAESTRO_API_TOKEN.",
  });
  return app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "Maestro",
      version,
      description:
        "Durable execution for teams of AI agents. Errors are application/problem+json with a stable code.",
      license: { name: "MIT" },
    },
    servers: [{ url: "/" }],
    security: [{ token: [] }],
  });
}
