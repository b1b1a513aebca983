// esbuild collects imported style sheets in one file. The import itself has no value.
declare module '*.css';
