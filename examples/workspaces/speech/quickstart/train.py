import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
weights = torch.zeros(64, device=device, requires_grad=True)
inputs = torch.randn(4096, 64, device=device)
targets = inputs @ torch.linspace(-1, 1, 64, device=device)
optimizer = torch.optim.SGD([weights], lr=0.1)
for step in range(200):
    loss = ((inputs @ weights - targets) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{device}: loss {loss.item():.6f}")
