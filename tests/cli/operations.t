# Operations in forward: what is counted of them, and what is refused of them.
# body LINES: a network whose forward is these, on 4 features.
body()
{
    {
        printf 'import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n'
        printf 'from torch.nn.utils import spectral_norm\n\n\nclass Net(nn.Module):\n    def __init__(self):\n'
        printf '        super().__init__()\n        self.fc = spectral_norm(nn.Linear(4, 4))\n        self.w = nn.Parameter(torch.rand(2, 3, 4))\n\n'
        printf '    def forward(self, x):\n'
        printf '        %s\n' "$@"
    } >net.py
}

body "return torch.einsum('bi,hji->bhj', x, self.w).flatten(1)"
run show net.py --input-shape 4
succeeds "einsum"
out_has "is a node" '^einsum +call_function +einsum +'
printf '[passes.count_flops]\n' >c.toml
run transform net.py --input-shape 4 --config c.toml --project q
out_has "6 sums of 4 products" '^einsum +einsum +24 '
body "return torch.einsum('bi,ji->bhj', x, self.w[0])"
run show net.py --input-shape 4
err_has "a letter from nowhere" "einsum: 'bi,ji->bhj': 'h' of the result is no operand's"
body "return torch.einsum('bi,ji,j->b', x, self.w[0])"
run show net.py --input-shape 4
err_has "terms without operands" "there are more terms than operands"
body "return torch.einsum('bi,j->b', x, self.w[0])"
run show net.py --input-shape 4
err_has "a term that is too short" "operand 2 is \[3, 4\], which has 2 dimensions"
body "return self.fc(x)"
run show net.py --input-shape 4
succeeds "spectral_norm in evaluation"
out_has "its vectors are its own" 'weight_u'
run train net.py jsc --max-steps 1 --project p
refused "but not in training" "spectral_norm in training changes its vectors with every call"
