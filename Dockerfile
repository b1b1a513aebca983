# The server as an image: the first stage compiles the program and keeps the packages it needs, the last one takes both.
#   docker build -t marketplace .
#   docker run --read-only -v marketplace-data:/data -v marketplace-backups:/backup -p 8080:8080 marketplace
# Pinned by tag, which follows Debian's and Node.js's repairs. Who wants the same bytes every time gives a digest:
# --build-arg NODE_IMAGE=node@sha256:... It must be Debian's, since the HTTP engine asks for its C library, glibc 2.38.
ARG NODE_IMAGE=node:24-trixie-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.package.json ./
COPY bench bench
COPY bin bin
COPY src src
COPY workers workers
RUN node bin/build-package.ts
RUN npm prune --omit=dev --ignore-scripts --no-audit --no-fund

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="svc-marketplace" \
      org.opencontainers.image.description="A marketplace service for financial offers" \
      org.opencontainers.image.licenses="Apache-2.0"
WORKDIR /app
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json LICENSE ./
RUN mkdir bin && ln -s ../dist/bin/launch.js bin/marketplace
# Everything that is written lies under /data, so the root file system may be read-only. Backups go to /backup, where somebody mounts a
# volume there: it is none of its own, so that a copy is never made into one that goes with the container. A new volume takes over the
# owner of its folder. The user is the image's `node`, by number, since that is how Kubernetes sees that it is not root.
RUN install -d -m 700 -o 1000 -g 1000 /data /backup
USER 1000:1000
VOLUME /data
# The operations port stays within the container, where the health check is. For probes and metrics from outside set
# SVC_OPS_HOST=0.0.0.0, and publish the port to the operator's network only.
ENV PATH=/app/bin:${PATH} \
    NODE_ENV=production \
    SVC_DATA_DIR=/data \
    SVC_HOST=0.0.0.0
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.SVC_OPS_PORT || 9090) + '/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# The server is the first process, without an init before it: it handles SIGTERM and SIGINT itself, and starts threads, never
# processes, so there is none to reap. `docker run --init` does no harm.
STOPSIGNAL SIGTERM
ENTRYPOINT ["marketplace"]
CMD ["serve"]
