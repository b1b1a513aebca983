/** Copies a text. Returns false if the browser does not allow it. */
export async function copyText(text: string): Promise<boolean> {
  // Pages without https, other than those of this machine, have no clipboard.
  if (navigator.clipboard === undefined) return false;
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** Copies a PNG picture. Returns false if the browser does not allow it. */
export async function copyPicture(picture: Blob): Promise<boolean> {
  if (navigator.clipboard === undefined || typeof ClipboardItem === 'undefined') return false;
  try {
    await navigator.clipboard.write([new ClipboardItem({ [picture.type]: picture })]);
    return true;
  } catch {
    return false;
  }
}

/** Saves a file in the folder for downloads. */
export function downloadFile(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The download has started when `click` returns, but some browsers read the address a moment later.
  setTimeout(() => URL.revokeObjectURL(address), 1_000);
}

/** Saves CSV text. The byte order mark lets spreadsheets read UTF-8. */
export function downloadCsv(name: string, csv: string): void {
  downloadFile(`${name}.csv`, new Blob(['\uFEFF', csv], { type: 'text/csv;charset=utf-8' }));
}
