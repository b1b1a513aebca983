import process from 'node:process';

/** Minimum version of Node.js, the same as `engines` in package.json. */
const oldestVersion = [22, 18] as const;

/**
 * Returns a sentence if this Node.js is too old for the service; otherwise null. This file must not use new features of Node.js, because an
 * old Node.js must be able to run it.
 */
export function describeOldNode(): string | null {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > oldestVersion[0] || (major === oldestVersion[0] && minor >= oldestVersion[1])) return null;
  return `Node.js ${oldestVersion.join('.')} or newer is required; this is Node.js ${process.versions.node}`;
}
