# The server as an image: packages in one stage, the widget's script in another, the program in the last. Debian 12, since
# the HTTP engine's binary asks for no newer C library.
FROM node:22-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --no-audit --no-fund

FROM packages AS widget
RUN npm ci --no-audit --no-fund
COPY bin bin
COPY src src
RUN node bin/build-widget.ts

FROM node:22-bookworm-slim
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY package.json ./
COPY bin bin
COPY src src
COPY workers workers
COPY --from=widget /app/src/widget-client/dist src/widget-client/dist

# Everything that is written lies under /data, so the root file system may be read-only.
RUN install -d -o node -g node /data
USER node
VOLUME /data
ENV SVC_DATA_DIR=/data \
    SVC_HOST=0.0.0.0 \
    SVC_OPS_HOST=0.0.0.0
# The operations port is for the operator's network: do not publish it.
EXPOSE 8080 9090
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:9090/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# The launcher replaces itself by the server, which therefore gets the signals: SIGTERM drains it.
ENTRYPOINT ["/app/bin/marketplace"]
CMD ["serve"]
