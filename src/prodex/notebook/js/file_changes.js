// What changed between two catalogues, in a file.

const changesKernel = () => null;
